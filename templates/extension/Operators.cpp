// $generated_comment
// The entry points of the operators: each looks its operator up once, then calls it through the dispatcher.
#include <ATen/core/dispatch/Dispatcher.h>
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::operators {
namespace {

template <class Operator>
c10::TypedOperatorHandle<typename Operator::schema> find() {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(Operator::name, Operator::overload_name)
      .template typed<typename Operator::schema>();
}

} // namespace
} // namespace $namespace::detail::operators

namespace $namespace::_ops {

$for op in operators
$if op.is_boxed
${op.returns} ${op.struct_name}::call(${op.parameters}) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload_name);
  return ::$namespace::detail::call_boxed<${op.returns}>(${op.boxed_arguments});
}

${op.returns} ${op.struct_name}::redispatch(${op.redispatch_parameters}) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload_name);
  return ::$namespace::detail::redispatch_boxed<${op.returns}>(op, ${op.redispatch_arguments});
}

$else
${op.returns} ${op.struct_name}::call(${op.parameters}) {
  static const auto op = ::$namespace::detail::operators::find<::$namespace::_ops::${op.struct_name}>();
  return op.call(${op.arguments});
}

${op.returns} ${op.struct_name}::redispatch(${op.redispatch_parameters}) {
  static const auto op = ::$namespace::detail::operators::find<::$namespace::_ops::${op.struct_name}>();
  return op.redispatch(${op.redispatch_arguments});
}

$endif
$endfor
} // namespace $namespace::_ops
