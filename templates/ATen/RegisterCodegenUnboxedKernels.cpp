$# Makes RegisterCodegenUnboxedKernels_0.cpp … and …Everything.cpp, which tell TorchScript's interpreter of kernels.
$#   unboxed_ops   a registration for each selected operator, each followed by a comma
// ${generated_comment}
// Registrations of a share of the selected operators, with the interpreter and not with the dispatcher.

#include <ATen/UnboxingFunctions.h>
#include <ATen/record_function.h>
#include <torch/csrc/jit/runtime/custom_operator.h>
#include <torch/csrc/jit/runtime/operator.h>
#include <torch/csrc/jit/runtime/register_ops_utils.h>

#include <optional>
#include <vector>

namespace torch::jit {
namespace {

const RegisterOperators registrations({
  $unboxed_ops
});

} // namespace
} // namespace torch::jit
