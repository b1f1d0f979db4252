// $generated_comment
// Operators_includes
$Operators_includes
// Operators_declarations
$Operators_declarations
