// $generated_comment
// shard_call
$shard_call
// shard_forward_declare
$shard_forward_declare
