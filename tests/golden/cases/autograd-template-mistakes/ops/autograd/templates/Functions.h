// $generated_comment
$autograd_function_declaration
