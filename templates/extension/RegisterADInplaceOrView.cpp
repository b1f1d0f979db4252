// $generated_comment
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::register_ad_inplace_or_view {
namespace {

// Counts one more version of what an operator wrote to.
[[maybe_unused]] void count_write(const at::Tensor& tensor) {
  if (tensor.defined()) {
    tensor.unsafeGetTensorImpl()->bump_version();
  }
}

[[maybe_unused]] void count_write(const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value()) {
    count_write(*tensor);
  }
}

[[maybe_unused]] void count_write(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    count_write(tensor);
  }
}

$for kernel in kernels
${kernel.definition}
$endfor
} // namespace

TORCH_LIBRARY_IMPL($namespace, ADInplaceOrView, m) {
$for kernel in kernels
  m.impl(${kernel.operator}, TORCH_FN(${kernel.name}));
$endfor
}

} // namespace $namespace::detail::register_ad_inplace_or_view
