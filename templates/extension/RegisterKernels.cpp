// $generated_comment
#include <ATen/core/op_registration/adaption.h>
#include <ATen/DeviceGuard.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::$unit {
namespace {

using namespace at;

$if allocates
// How tensors under $key are allocated.
struct Memory {
  static at::Tensor empty(at::IntArrayRef sizes, const at::TensorOptions& options) {
    return $empty(sizes, $memory_options);
  }
  static at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
    return $empty_strided(sizes, strides, $memory_options);
  }
  static at::Tensor empty_symint(c10::SymIntArrayRef sizes, const at::TensorOptions& options) {
    return at::empty_symint(sizes, $memory_options);
  }
  using Guard = detail::$guard;
};

$endif
$for wrapper in wrappers
// ${wrapper.origin}
${wrapper.definition}
$endfor
} // namespace

TORCH_LIBRARY_IMPL($namespace, $key, m) {
$for wrapper in wrappers
  m.impl(${wrapper.operator}, ${wrapper.function});
$endfor
}

$if decomposed
// vmap sees the operators that these are made of.
TORCH_LIBRARY_IMPL($namespace, FuncTorchBatchedDecomposition, m) {
$for wrapper in decomposed
  m.impl(${wrapper.operator}, ${wrapper.function});
$endfor
}

$endif
} // namespace $namespace::detail::$unit
$if functions

// Calls of the kernels past the dispatcher.
namespace $namespace::$backend {

$for function in functions
${function.definition} {
  return ::$namespace::detail::$unit::${function.call};
}

$endfor
} // namespace $namespace::$backend
$endif
