$# Makes VariableType_N.cpp: kernels that call an operator and remember how to differentiate it.
$#   type_derived_method_definitions  the kernels
$#   wrapper_registrations            blocks of statements that register them, one for each key
// ${generated_comment}
// Autograd's kernels for a share of the operators.  An operator's name says which share it is in.

#include <ATen/RedispatchFunctions.h>
#include <ATen/SparseCsrTensorUtils.h>
#include <ATen/core/TorchDispatchUtils.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/generated/VariableType.h>
#include <torch/library.h>

using namespace at;
using namespace torch::autograd::generated;
using namespace torch::autograd::generated::details;

namespace torch::autograd {
$if type_derived_method_definitions
namespace VariableType {
namespace {

// What an operator wrote over is another value from now on: what collected gradients for the old one must not go on.
[[maybe_unused]] void reset_grad_accumulator(Variable& self) {
  if (AutogradMeta* meta = torch::autograd::impl::get_autograd_meta(self)) {
    meta->grad_accumulator_.reset();
  }
}

// How many references there are to a result that nobody else holds: a Python object counts as one more.
[[maybe_unused]] size_t expected_fresh_use_count(const Variable& self) {
  if (!self.defined()) {
    return 0;
  }
  const bool has_python_object = self.unsafeGetTensorImpl()->pyobj_slot()->load_pyobj() != nullptr;
  return has_python_object ? 2 : 1;
}

$type_derived_method_definitions

} // namespace
} // namespace VariableType

namespace {

$wrapper_registrations

} // namespace
$endif

} // namespace torch::autograd
