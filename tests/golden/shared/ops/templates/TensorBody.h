// $generated_comment
// tensor_method_declarations
$tensor_method_declarations
// tensor_method_definitions
$tensor_method_definitions
