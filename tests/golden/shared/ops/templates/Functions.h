// $generated_comment
// Functions_includes
$Functions_includes
// Functions_declarations
$Functions_declarations
