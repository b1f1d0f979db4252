// $generated_comment
// aten_schema_registrations
$aten_schema_registrations
// schema_registrations
$schema_registrations
