// $generated_comment
#include <torch/library.h>
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::register_batched {
namespace {

$for kernel in kernels
${kernel.definition}
$endfor
} // namespace

TORCH_LIBRARY_IMPL($namespace, FuncTorchBatched, m) {
$for kernel in kernels
  m.impl(${kernel.operator}, TORCH_FN(${kernel.name}));
$endfor
}

} // namespace $namespace::detail::register_batched
