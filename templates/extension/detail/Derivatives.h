// $generated_comment
#pragma once
// What derivatives are computed and recorded with.  torch has functions like these in headers that declare the nodes of
// all its operators, and take longer to compile than all else that an extension includes.
#include <ATen/TensorGeometry.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <c10/util/irange.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
#include <algorithm>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/ops/_efficientzerotensor.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>

#include <$namespace/detail/Nodes.h>

namespace $namespace::detail::graph {

using torch::autograd::IndexRange;
using torch::autograd::variable_list;

// Gives the gradients of each argument their places among all gradients.
class IndexRangeGenerator {
 public:
  IndexRange range(size_t count) {
    size_ += count;
    return {size_ - count, size_};
  }
  size_t size() const {
    return size_;
  }

 private:
  size_t size_ = 0;
};

inline bool any_variable_defined(const variable_list& variables) {
  for (const at::Tensor& variable : variables) {
    if (variable.defined()) {
      return true;
    }
  }
  return false;
}

inline void copy_range(variable_list& gradients, IndexRange range, const at::Tensor& gradient) {
  TORCH_INTERNAL_ASSERT(range.second - range.first == 1 && range.second <= gradients.size());
  gradients[range.first] = gradient;
}

inline void copy_range(variable_list& gradients, IndexRange range, at::ArrayRef<at::Tensor> values) {
  TORCH_INTERNAL_ASSERT(range.second - range.first == values.size() && range.second <= gradients.size());
  for (const size_t at : c10::irange(values.size())) {
    gradients[range.first + at] = values[at];
  }
}

// Formulas for lists find zeros in place of the gradients that are missing beside others.
inline void fill_gradients(variable_list& gradients, const torch::autograd::Node& node) {
  if (!any_variable_defined(gradients)) {
    return;
  }
  for (const size_t at : c10::irange(std::min<size_t>(gradients.size(), node.num_inputs()))) {
    const auto& metadata = node.input_metadata(at);
    if (!gradients[at].defined() && !metadata.was_default_constructed()) {
      gradients[at] = metadata.zeros_like();
    }
  }
}

// torch has these functions for every type but one, to which a list must not be converted.
template <class T>
  requires std::is_same_v<T, std::optional<at::TensorList>>
void check_no_requires_grad(const T& tensors, const char* name, const char* operator_name) {
  if (tensors.has_value()) {
    torch::autograd::check_no_requires_grad(at::ITensorListRef(*tensors), name, operator_name);
  }
}

template <class T>
  requires std::is_same_v<T, std::optional<at::TensorList>>
bool isFwGradDefinedTensorList(const T& tensors) {
  return tensors.has_value() && torch::autograd::isFwGradDefinedTensorList(at::ITensorListRef(*tensors));
}

template <class T>
const T& listed(const T& argument) {
  return argument;
}
inline at::TensorList listed(const std::optional<at::TensorList>& argument) {
  return argument.value_or(at::TensorList());
}
template <class... Arguments>
bool compute_requires_grad(const Arguments&... arguments) {
  return torch::autograd::compute_requires_grad(listed(arguments)...);
}
template <class... Arguments>
torch::autograd::edge_list collect_next_edges(const Arguments&... arguments) {
  return torch::autograd::collect_next_edges(listed(arguments)...);
}

// The tangent of a tensor, the tensor without it, and the tensor itself; an undefined one if there is none.
inline at::Tensor toNonOptFwGrad(const std::optional<at::Tensor>& tensor) {
  return tensor.has_value() && tensor->defined() ? tensor->_fw_grad(/*level=*/0) : at::Tensor();
}

inline at::Tensor toNonOptPrimal(const std::optional<at::Tensor>& tensor) {
  if (!tensor.has_value() || !tensor->defined()) {
    return at::Tensor();
  }
  if (tensor->unsafeGetTensorImpl()->is_wrapped_number()) {
    return *tensor; // it has no tangent
  }
  return tensor->_fw_primal(/*level=*/0);
}

inline at::Tensor toNonOptTensor(const std::optional<at::Tensor>& tensor) {
  return tensor.value_or(at::Tensor());
}

inline std::optional<at::Tensor> wrap_opt_if(const at::Tensor& tensor, bool is_kept) {
  return is_kept ? std::make_optional(tensor) : std::nullopt;
}

// Has a tangent promote types as the tensor does that it belongs to.
inline void update_wrapped_number(at::Tensor& tensor, at::Tensor& tangent) {
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) {
    tangent.unsafeGetTensorImpl()->set_wrapped_number(true);
  }
}

[[noreturn]] inline void refuse(const char* name, const char* reason) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, "the derivative for '", name, "' is not implemented.", *reason == '\0' ? "" : " ", reason);
}

inline at::Tensor not_implemented(const char* name, const char* reason = "") {
  refuse(name, reason);
}

inline std::vector<at::Tensor> not_implemented_list(const char* name, const char* reason = "") {
  refuse(name, reason);
}

inline std::vector<at::Tensor> unpack_list(
    at::ArrayRef<torch::autograd::SavedVariable> saved, const NodePtr& node = nullptr) {
  std::vector<at::Tensor> tensors;
  tensors.reserve(saved.size());
  for (const auto& variable : saved) {
    tensors.push_back(variable.unpack(node));
  }
  return tensors;
}

inline c10::List<std::optional<at::Tensor>> unpack_opt_list(
    at::ArrayRef<torch::autograd::SavedVariable> saved, const NodePtr& node = nullptr) {
  c10::List<std::optional<at::Tensor>> tensors;
  tensors.reserve(saved.size());
  for (const auto& variable : saved) {
    at::Tensor tensor = variable.unpack(node);
    tensors.push_back(tensor.defined() ? std::make_optional(std::move(tensor)) : std::nullopt);
  }
  return tensors;
}

// Kernels call an argument by another name once it is one of the next kernel's.
template <class T>
T& unpack(T& argument, const char*, int) {
  return argument;
}

// What formulas mean by `zeros_like(self)`, where nothing is kept of a tensor but what zeros are made of.
inline at::Tensor zeros_of_kept(const torch::autograd::TypeAndSize& kept) {
  return at::zeros_symint(kept.sym_sizes, kept.options);
}

// What is kept of a tensor whose strides a formula uses.
inline c10::SymIntArrayRef strides_or_error(const at::Tensor& tensor, const char* name) {
  TORCH_CHECK(
      tensor.layout() == at::kStrided, "the strides of '", name, "' are needed for a gradient, and a tensor of layout ",
      tensor.layout(), " has none");
  return tensor.sym_strides();
}

// Has the compiler of autograd note down a call of a node's formulas, which are computed later.
inline variable_list compiled_autograd_apply_functional(
    const torch::dynamo::autograd::PackedArgs& packed_args,
    const torch::autograd::edge_list& next_edges,
    torch::dynamo::autograd::SwapSavedVariables& saved,
    const variable_list& grads,
    const std::string& name) {
  using Metadata = std::vector<std::optional<torch::autograd::InputMetadata>>;
  const auto& compiler = torch::dynamo::autograd::getPyCompilerInterface();
  return compiler->call_function(
      saved.get_py_compiler(), "apply_functional", name, grads, packed_args.vec(),
      torch::dynamo::autograd::IValuePacker<Metadata>::pack(torch::dynamo::autograd::get_input_metadata(next_edges)));
}

} // namespace $namespace::detail::graph
