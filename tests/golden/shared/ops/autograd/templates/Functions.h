// $generated_comment
// autograd_function_declarations
$autograd_function_declarations
