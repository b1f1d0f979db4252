// $generated_comment
// shard_id
$shard_id
// py_function_initializers
$py_function_initializers
// py_function_props_and_getters
$py_function_props_and_getters
