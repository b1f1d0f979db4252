// $generated_comment
// aten_symbols
$aten_symbols
// attr_symbols
$attr_symbols
