// $generated_comment
// autograd_function_definitions
$autograd_function_definitions
