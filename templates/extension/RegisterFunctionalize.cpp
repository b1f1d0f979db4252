// $generated_comment
#include <torch/library.h>
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::register_functionalize {
namespace {

$for kernel in kernels
${kernel.definition}
$endfor
} // namespace

TORCH_LIBRARY_IMPL($namespace, Functionalize, m) {
$for kernel in kernels
  m.impl(${kernel.operator}, ${kernel.function});
$endfor
}

} // namespace $namespace::detail::register_functionalize
