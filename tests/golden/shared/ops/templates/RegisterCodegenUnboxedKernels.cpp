// $generated_comment
$unboxed_ops
