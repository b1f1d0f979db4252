// $generated_comment
// meta_function_declarations
$meta_function_declarations
