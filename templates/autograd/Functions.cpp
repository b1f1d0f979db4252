$# Makes Functions.cpp: what the nodes of Functions.h compute, operator by operator.
$#   autograd_function_definitions   the nodes' members
// ${generated_comment}
// Gradients, as derivatives.yaml has them.  What is too long for a formula is a function of FunctionsManual.cpp.

#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/dynamo/compiled_autograd.h>

using namespace torch::autograd::generated::details;
using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using at::TensorList;

namespace torch::autograd::generated {

// What the nodes behind expect to get, in a form that Python can be given.
static at::IValue compute_output_metadata(const torch::autograd::edge_list& next_edges) {
  using Packer = torch::dynamo::autograd::IValuePacker<std::vector<std::optional<InputMetadata>>>;
  return Packer::pack(torch::dynamo::autograd::get_input_metadata(next_edges));
}

// Has the compiler of autograd record a node, instead of computing its gradients now.
static C10_NOINLINE variable_list compiled_autograd_apply_functional(
    const PackedArgs& packed_args,
    const edge_list& next_edges,
    SwapSavedVariables& saved,
    const variable_list& grads,
    const std::string& name) {
  auto metadata = compute_output_metadata(next_edges);
  const auto& compiler = torch::dynamo::autograd::getPyCompilerInterface();
  return compiler->call_function(
      saved.get_py_compiler(), "apply_functional", name, grads, packed_args.vec(), metadata);
}

$autograd_function_definitions

} // namespace torch::autograd::generated
