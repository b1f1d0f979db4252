// $generated_comment
// dispatch_namespace
$dispatch_namespace
// DispatchKeyFunctions_inl_includes
$DispatchKeyFunctions_inl_includes
// dispatch_namespaced_declarations
$dispatch_namespaced_declarations
