// $generated_comment
// view_func_definitions
$view_func_definitions
