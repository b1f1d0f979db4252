// $generated_comment
// py_return_types
$py_return_types
// py_return_types_registrations
$py_return_types_registrations
