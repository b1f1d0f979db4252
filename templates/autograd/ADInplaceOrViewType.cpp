$# Makes ADInplaceOrViewType_N.cpp: kernels that count writes to tensors, and tell autograd of views.
$#   unique_ops_headers                     includes, if every operator has headers of its own
$#   inplace_or_view_method_definitions     the kernels
$#   inplace_or_view_wrapper_registrations  a statement for each that registers it
// ${generated_comment}
// A share of the operators that write to tensors or make views, as autograd must hear of them even where
// nothing is differentiated: versions go up, and a view learns of its base.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <ATen/FunctionalInverses.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/csrc/autograd/generated/ViewFuncs.h>
#include <torch/library.h>

#ifdef AT_PER_OPERATOR_HEADERS
$unique_ops_headers
#else
#include <ATen/Operators.h>
#endif

using namespace at;
using torch::autograd::as_view;
using torch::autograd::CreationMeta;
using torch::autograd::increment_version;

namespace torch {
$if inplace_or_view_method_definitions

namespace ADInplaceOrView {
namespace {

$inplace_or_view_method_definitions

} // namespace
} // namespace ADInplaceOrView

namespace {

TORCH_LIBRARY_IMPL(aten, ADInplaceOrView, m) {
  $inplace_or_view_wrapper_registrations
}

} // namespace
$endif

} // namespace torch
