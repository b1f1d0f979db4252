// $generated_comment
// ops_headers
$ops_headers
// function_definitions
$function_definitions
