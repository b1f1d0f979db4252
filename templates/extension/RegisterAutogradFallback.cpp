// $generated_comment
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
$if kernels
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/functions/basic_ops.h>
#include <torch/csrc/autograd/functions/utils.h>
$endif
#include <torch/library.h>
$for include in includes
#include <$include>
$endfor

$if kernels
namespace $namespace::detail::register_autograd_fallback {
namespace {
namespace graph {

// Tensors as torch's helpers take them: an optional list as a list.
template <class T>
const T& listed(const T& tensors) {
  return tensors;
}
inline at::TensorList listed(const std::optional<at::TensorList>& tensors) {
  return tensors.value_or(at::TensorList());
}

template <class... Tensors>
NodePtr not_implemented_for(const char* name, const Tensors&... tensors) {
  if (!torch::autograd::compute_requires_grad(tensors...)) {
    return nullptr;
  }
  auto node = make_node<torch::autograd::NotImplemented>(std::string(name));
  node->set_next_edges(torch::autograd::collect_next_edges(tensors...));
  return node;
}

// What raises the error when a gradient is asked for; null if none can be.
template <class... Tensors>
NodePtr not_implemented(const char* name, const Tensors&... tensors) {
  return not_implemented_for(name, listed(tensors)...);
}

[[maybe_unused]] bool is_differentiable(const at::Tensor& tensor) {
  return tensor.defined() && torch::autograd::isDifferentiableType(tensor.scalar_type());
}

[[maybe_unused]] void check_inplace(const at::Tensor& tensor, const NodePtr& node) {
  torch::autograd::check_inplace(tensor, node != nullptr);
}

[[maybe_unused]] void check_inplace(at::TensorList tensors, const NodePtr& node) {
  torch::autograd::check_inplace(at::ITensorListRef(tensors), node != nullptr);
}

[[maybe_unused]] void rebase(const at::Tensor& tensor, const NodePtr& node) {
  if (node != nullptr && is_differentiable(tensor)) {
    torch::autograd::rebase_history(tensor, node);
  }
}

[[maybe_unused]] void rebase(at::TensorList tensors, const NodePtr& node) {
  for (const at::Tensor& tensor : tensors) {
    rebase(tensor, node);
  }
}

// What is no tensor has no gradient.
template <class T>
void mark(const T&, const NodePtr&) {}

[[maybe_unused]] void mark(const at::Tensor& tensor, const NodePtr& node) {
  if (node != nullptr && is_differentiable(tensor)) {
    torch::autograd::set_history(tensor, node);
  }
}

[[maybe_unused]] void mark(const std::vector<at::Tensor>& tensors, const NodePtr& node) {
  for (const at::Tensor& tensor : tensors) {
    mark(tensor, node);
  }
}

[[maybe_unused]] void mark(const std::optional<at::Tensor>& tensor, const NodePtr& node) {
  if (tensor.has_value()) {
    mark(*tensor, node);
  }
}

template <class... Results>
void mark(const std::tuple<Results...>& results, const NodePtr& node) {
  std::apply([&](const auto&... result) { (mark(result, node), ...); }, results);
}

} // namespace graph

$for kernel in kernels
${kernel.definition}
$endfor
} // namespace
} // namespace $namespace::detail::register_autograd_fallback

$endif
TORCH_LIBRARY_IMPL($namespace, Autograd, m) {
$for operator in operators
  m.impl($operator, torch::autograd::autogradNotImplementedFallback());
$endfor
$for kernel in kernels
  m.impl(${kernel.operator}, TORCH_FN(::$namespace::detail::register_autograd_fallback::${kernel.name}));
$endfor
}
