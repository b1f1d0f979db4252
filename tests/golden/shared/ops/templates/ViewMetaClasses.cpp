// $generated_comment
// op_headers
$op_headers
// view_meta_implementations
$view_meta_implementations
