// $generated_comment
// Kernels for what no other file has any: types that only the boxed convention passes, and writes without a
// functional form.
#include <$namespace/detail/AnyOperator.h>

namespace $namespace::detail::register_any_operator {

$if functional
// The forms that functionalization calls.
TORCH_LIBRARY_FRAGMENT($namespace, m) {
$for schema in schemas
  m.def($schema);
$endfor
}

TORCH_LIBRARY_IMPL($namespace, CompositeExplicitAutograd, m) {
$for operator in forms
  m.impl($operator, torch::CppFunction::makeFromBoxedFunction<&any::run_on_copies>());
$endfor
}

TORCH_LIBRARY_IMPL($namespace, Functionalize, m) {
$for operator in functional
  m.impl($operator, torch::CppFunction::makeFromBoxedFunction<&any::functionalize>());
$endfor
}

$endif
$if writing
TORCH_LIBRARY_IMPL($namespace, ADInplaceOrView, m) {
$for operator in writing
  m.impl($operator, torch::CppFunction::makeFromBoxedFunction<&any::count_writes>());
$endfor
}

$endif
$if undifferentiated
TORCH_LIBRARY_IMPL($namespace, Autograd, m) {
$for operator in undifferentiated
  m.impl($operator, torch::CppFunction::makeFromBoxedFunction<&any::without_derivative>());
$endfor
}

$endif
$if selecting
TORCH_LIBRARY_IMPL($namespace, BackendSelect, m) {
$for operator in selecting
  m.impl($operator, torch::CppFunction::makeFromBoxedFunction<&any::select_backend>());
$endfor
}
$endif
} // namespace $namespace::detail::register_any_operator
