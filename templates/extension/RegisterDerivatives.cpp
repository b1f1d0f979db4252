// $generated_comment
// The derivatives of operators: the nodes of autograd's graph, and the kernels that record it.
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/library.h>

$for include in includes
#include <$include>
$endfor
$if called
// Functions of torch's that formulas may mean.
$for function in called
#if __has_include(<ATen/ops/${function.name}.h>)
#include <ATen/ops/${function.name}.h>
$if function.is_qualified
#else
#include <ATen/ATen.h>
$endif
#endif
$endfor
$endif
// What formulas call beside operators.
#if __has_include(<$namespace/derivatives.h>)
#include <$namespace/derivatives.h>
#endif

namespace $namespace::autograd::$unit {
namespace {

// Named one by one: an operator may be called the same, and formulas shall find theirs.
using at::ArrayRef;
using at::GradMode;
using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::TensorGeometry;
using at::TensorList;
using at::TensorOptions;
using detail::graph::IndexRangeGenerator;
using detail::graph::any_variable_defined;
using detail::graph::check_no_requires_grad;
using detail::graph::compute_requires_grad;
using detail::graph::isFwGradDefinedTensorList;
using detail::graph::collect_next_edges;
using detail::graph::compiled_autograd_apply_functional;
using detail::graph::copy_range;
using detail::graph::fill_gradients;
using detail::graph::not_implemented;
using detail::graph::not_implemented_list;
using detail::graph::strides_or_error;
using detail::graph::toNonOptFwGrad;
using detail::graph::toNonOptPrimal;
using detail::graph::toNonOptTensor;
using detail::graph::unpack;
using detail::graph::unpack_list;
using detail::graph::unpack_opt_list;
using detail::graph::update_wrapped_number;
using detail::graph::wrap_opt_if;
using detail::graph::zeros_of_kept;
using torch::autograd::check_inplace;
using torch::autograd::check_no_requires_grad;
using torch::autograd::edge_list;
using torch::autograd::ERR_BACKWARD_TWICE;
using torch::autograd::flatten_tensor_args;
using torch::autograd::isFwGradDefined;
using torch::autograd::isFwGradDefinedTensorList;
using torch::autograd::make_saved_variable_list;
using torch::autograd::Node;
using torch::autograd::NotImplemented;
using torch::autograd::rebase_history;
using torch::autograd::SavedVariable;
using torch::autograd::set_history;
using torch::autograd::throw_error_for_complex_autograd;
using torch::autograd::throw_error_out_requires_grad;
using torch::autograd::TraceableFunction;
using torch::autograd::to_args_scalartypes;
using torch::autograd::to_args_sizes;
using torch::autograd::to_args_sizes_symint;
using torch::autograd::TypeAndSize;
using torch::autograd::variable_list;
using torch::dynamo::autograd::CompiledNodeArgs;
using torch::dynamo::autograd::ivalue_list;
using torch::dynamo::autograd::PackedArgs;
using torch::dynamo::autograd::SwapSavedVariables;

$for name in namesakes
using ::$namespace::$name; // an operator that is called as one of the functions above
$endfor
$for declaration in declarations
$declaration
$endfor
$for definition in definitions
$definition
$endfor
$for kernel in kernels
$kernel
$endfor
$if node_names
[[maybe_unused]] const bool kinds_are_listed = [] {
  auto& kinds = detail::node_kinds();
$for name in node_names
  kinds.push_back({&typeid($name), "$name"});
$endfor
  return true;
}();

$endif
} // namespace

$for block in blocks
TORCH_LIBRARY_IMPL($namespace, ${block.key}, m) {
$for kernel in block.kernels
  m.impl(${kernel.operator}, TORCH_FN(${kernel.name}));
$endfor
}

$endfor
} // namespace $namespace::autograd::$unit
$if defines_kinds

namespace $namespace::detail {

std::vector<NodeKind>& node_kinds() {
  static std::vector<NodeKind> kinds;
  return kinds;
}

} // namespace $namespace::detail
$endif
