// $generated_comment
// unique_ops_headers
$unique_ops_headers
// inplace_or_view_method_definitions
$inplace_or_view_method_definitions
// inplace_or_view_wrapper_registrations
$inplace_or_view_wrapper_registrations
