// $generated_comment
// type_derived_method_definitions
$type_derived_method_definitions
// wrapper_registrations
$wrapper_registrations
