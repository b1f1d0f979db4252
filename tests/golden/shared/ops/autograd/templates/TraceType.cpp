// $generated_comment
// unique_ops_headers
$unique_ops_headers
// trace_method_definitions
$trace_method_definitions
// trace_wrapper_registrations
$trace_wrapper_registrations
