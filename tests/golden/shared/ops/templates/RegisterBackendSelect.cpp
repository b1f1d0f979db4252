// $generated_comment
// ops_headers
$ops_headers
// backend_select_method_definitions
$backend_select_method_definitions
// backend_select_function_registrations
$backend_select_function_registrations
