// $generated_comment
// aten_ops
$aten_ops
