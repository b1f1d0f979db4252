// $generated_comment
// enum_of_valid_tags
$enum_of_valid_tags
