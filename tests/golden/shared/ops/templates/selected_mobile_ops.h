// $generated_comment
$allowlists
// checks_kernels: $checks_kernels
$kernel_checks
