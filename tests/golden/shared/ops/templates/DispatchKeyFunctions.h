// $generated_comment
// inline_headers
$inline_headers
