// $generated_comment
// shard_id
$shard_id
// unique_ops_headers
$unique_ops_headers
// py_forwards
$py_forwards
// py_methods
$py_methods
// py_method_defs
$py_method_defs
