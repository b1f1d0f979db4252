// $generated_comment
void f() {
  $schema_regstrations
}
