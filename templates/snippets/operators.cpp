$# The classes in at::_ops (dest/operators.py).

$section declaration

$if place
// $place
$endif
struct TORCH_API $name {
  using schema = $returns ($types);
  using ptr_schema = schema*;
  static constexpr const char* name = "$qualified_name";
  static constexpr const char* overload_name = "$overload_name";
  static constexpr const char* schema_str = $schema;
  static $returns call($parameters);
  static $returns redispatch($redispatch_parameters);
};

$section definition

$comment
static C10_NOINLINE c10::TypedOperatorHandle<$operator::schema> create_${operator}_typed_handle() {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow($operator::name, $operator::overload_name)
      .typed<$operator::schema>();
}

$returns $operator::call($parameters) {
$if static_call
$insert static_call
$else
  static auto op = create_${operator}_typed_handle();
  return op.call($arguments);
$endif
}

$returns $operator::redispatch($redispatch_parameters) {
  static auto op = create_${operator}_typed_handle();
  return op.redispatch(dispatchKeySet${,arguments});
}
