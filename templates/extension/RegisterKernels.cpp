// $generated_comment
#include <ATen/core/op_registration/adaption.h>
#include <ATen/DeviceGuard.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>
$if finds_devices
#include <algorithm>
$endif
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::$unit {
namespace {

using namespace at;

$if finds_devices
// The device of the first tensor in lists that may be missing, or whose elements may.
[[maybe_unused]] std::optional<Device> device_in(const at::Tensor& tensor) {
  return tensor.defined() ? std::make_optional(tensor.device()) : std::nullopt;
}
template <class T>
std::optional<Device> device_in(const c10::List<T>& values);
[[maybe_unused]] std::optional<Device> device_in(at::TensorList tensors) {
  const auto found = std::find_if(tensors.begin(), tensors.end(), [](const at::Tensor& each) { return each.defined(); });
  return found == tensors.end() ? std::nullopt : device_in(*found);
}
template <class T>
std::optional<Device> device_in(const std::optional<T>& value) {
  return value.has_value() ? device_in(*value) : std::nullopt;
}
template <class T>
std::optional<Device> device_in(const c10::List<T>& values) {
  for (size_t at = 0; at < values.size(); ++at) {
    if (const std::optional<Device> found = device_in(values.get(at))) {
      return found;
    }
  }
  return std::nullopt;
}

$endif
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
