// $generated_comment
// MethodOperators_includes
$MethodOperators_includes
// MethodOperators_declarations
$MethodOperators_declarations
