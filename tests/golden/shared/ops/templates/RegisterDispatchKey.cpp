// $generated_comment
// extra_cuda_headers
$extra_cuda_headers
// external_backend_headers
$external_backend_headers
// dispatch_headers
$dispatch_headers
// ops_headers
$ops_headers
// dispatch_helpers
$dispatch_helpers
// dispatch_definitions
$dispatch_definitions
