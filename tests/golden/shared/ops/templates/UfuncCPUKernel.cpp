// $generated_comment
// name
$name
// native_definitions
$native_definitions
