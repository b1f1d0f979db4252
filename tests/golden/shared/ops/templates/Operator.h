// $generated_comment
// declarations
$declarations
