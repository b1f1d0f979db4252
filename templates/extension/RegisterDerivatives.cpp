// $generated_comment
// The derivatives of operators: the nodes of autograd's graph, and the kernels that record it.
#include <ATen/ATen.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/irange.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/dynamo/compiled_autograd.h>
#include <torch/library.h>
$for include in includes
#include <$include>
$endfor
// What formulas call beside operators.
#if __has_include(<$namespace/derivatives.h>)
#include <$namespace/derivatives.h>
#endif

namespace $namespace::autograd {
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
using torch::autograd::check_inplace;
using torch::autograd::check_no_requires_grad;
using torch::autograd::collect_next_edges;
using torch::autograd::compute_requires_grad;
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
using torch::autograd::generated::unpack_list;
using torch::autograd::generated::unpack_opt_list;
using torch::autograd::generated::details::any_variable_defined;
using torch::autograd::generated::details::copy_range;
using torch::autograd::generated::details::IndexRangeGenerator;
using torch::autograd::generated::details::not_implemented;
using torch::autograd::generated::details::not_implemented_list;
using torch::autograd::generated::details::toNonOptFwGrad;
using torch::autograd::generated::details::toNonOptPrimal;
using torch::autograd::generated::details::toNonOptTensor;
using torch::autograd::generated::details::update_wrapped_number;
using torch::autograd::generated::details::wrap_opt_if;
using torch::dynamo::autograd::CompiledNodeArgs;
using torch::dynamo::autograd::ivalue_list;
using torch::dynamo::autograd::PackedArgs;
using torch::dynamo::autograd::SwapSavedVariables;

// Kernels call an argument by another name once it is one of the next kernel's.
template <class T>
T& unpack(T& argument, const char*, int) {
  return argument;
}

// What formulas mean by `zeros_like(self)`, where nothing is kept of a tensor but what zeros are made of.
[[maybe_unused]] Tensor zeros_of_kept(const TypeAndSize& kept) {
  return at::zeros_symint(kept.sym_sizes, kept.options);
}

// What is kept of a tensor whose strides a formula uses.
[[maybe_unused]] c10::SymIntArrayRef strides_or_error(const Tensor& tensor, const char* name) {
  TORCH_CHECK(
      tensor.layout() == at::kStrided, "the strides of '", name, "' are needed for a gradient, and a tensor of layout ",
      tensor.layout(), " has none");
  return tensor.sym_strides();
}

// Has the compiler of autograd note down a call of a node's formulas, which are computed later.
[[maybe_unused]] variable_list compiled_autograd_apply_functional(
    const PackedArgs& packed_args,
    const edge_list& next_edges,
    SwapSavedVariables& saved,
    const variable_list& grads,
    const std::string& name) {
  using Metadata = std::vector<std::optional<torch::autograd::InputMetadata>>;
  const auto& compiler = torch::dynamo::autograd::getPyCompilerInterface();
  return compiler->call_function(
      saved.get_py_compiler(), "apply_functional", name, grads, packed_args.vec(),
      torch::dynamo::autograd::IValuePacker<Metadata>::pack(torch::dynamo::autograd::get_input_metadata(next_edges)));
}

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
} // namespace

$for block in blocks
TORCH_LIBRARY_IMPL($namespace, ${block.key}, m) {
$for kernel in block.kernels
  m.impl(${kernel.operator}, TORCH_FN(${kernel.name}));
$endfor
}

$endfor
} // namespace $namespace::autograd
