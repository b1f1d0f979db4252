// $generated_comment
// static_dispatch_ops_headers
$static_dispatch_ops_headers
// operator_includes
$operator_includes
// function_definitions
$function_definitions
