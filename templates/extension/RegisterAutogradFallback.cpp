// $generated_comment
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>
#include <vector>
$for include in includes
#include <$include>
$endfor

namespace $namespace {
namespace {
namespace detail {

// Counts one more version of what an operator wrote to.
[[maybe_unused]] void count(const at::Tensor& tensor) {
  if (tensor.defined() && !tensor.is_inference()) {
    tensor.unsafeGetTensorImpl()->bump_version();
  }
}

[[maybe_unused]] void count(const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value()) {
    count(*tensor);
  }
}

[[maybe_unused]] void count(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    count(tensor);
  }
}

} // namespace detail

$for kernel in counting
${kernel.definition}
$endfor
} // namespace

$if undifferentiated
TORCH_LIBRARY_IMPL($namespace, Autograd, m) {
$for operator in undifferentiated
  m.impl($operator, torch::autograd::autogradNotImplementedFallback());
$endfor
}

$endif
TORCH_LIBRARY_IMPL($namespace, ADInplaceOrView, m) {
$for operator in views
  m.impl($operator, torch::autograd::autogradNotImplementedInplaceOrViewFallback());
$endfor
$for kernel in counting
  m.impl(${kernel.operator}, TORCH_FN(${kernel.name}));
$endfor
}

} // namespace $namespace
