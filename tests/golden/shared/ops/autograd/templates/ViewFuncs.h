// $generated_comment
// ops_headers
$ops_headers
// view_func_declarations
$view_func_declarations
