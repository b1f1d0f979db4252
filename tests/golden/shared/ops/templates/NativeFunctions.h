// $generated_comment
// NativeFunctions_includes
$NativeFunctions_includes
// NativeFunctions_declarations
$NativeFunctions_declarations
