// $generated_comment
$definitions
