// $generated_comment
$declarations
