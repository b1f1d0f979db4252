// $generated_comment
// registration_declarations
$registration_declarations
