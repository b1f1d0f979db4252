$# Makes CompositeViewCopyKernels.cpp: kernels that need no author, since each follows from another form.
$#   unique_ops_headers                        includes, if every operator has headers of its own
$#   CompositeViewCopyKernel_Definitions       the copying forms of views
$#   GeneratedCompositeFunctional_Definitions  functional forms that were derived from in-place or mutable ones
$#   GeneratedCompositeOut_Definitions         out forms that were derived from functional ones
// ${generated_comment}
// Kernels that follow from another form of their operator.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <ATen/InferSize.h>
#include <ATen/Tensor.h>
#include <ATen/TensorUtils.h>
#include <ATen/native/Resize.h>
#include <c10/util/irange.h>

#ifdef AT_PER_OPERATOR_HEADERS
#include <ATen/ops/clone.h>
$unique_ops_headers
#else
#include <ATen/Operators.h>
#endif

namespace at::native {

$if GeneratedCompositeFunctional_Definitions
namespace {

// What a derived functional form lets the other form write to, in place of its argument.
Tensor clone_arg(const Tensor& argument) {
  return argument.clone();
}

std::vector<Tensor> clone_arg(const TensorList& arguments) {
  std::vector<Tensor> clones;
  clones.reserve(arguments.size());
  for (const Tensor& argument : arguments) {
    clones.push_back(argument.clone());
  }
  return clones;
}

} // namespace

$endif
$if GeneratedCompositeOut_Definitions
namespace {

// Gives an out argument the shape of the result that it is about to receive.
void resize_out_helper(const Tensor& out, const Tensor& result) {
  resize_output(out, result.sizes());
}

void resize_out_helper(const TensorList& outs, const TensorList& results) {
  TORCH_INTERNAL_ASSERT(outs.size() == results.size());
  for (const auto at : c10::irange(outs.size())) {
    resize_out_helper(outs[at], results[at]);
  }
}

// Moves a result into an out argument, which may not differ in kind.
void copy_arg(const Tensor& out, const Tensor& result) {
  TORCH_CHECK(out.dtype() == result.dtype(),
      "the result is of dtype ", result.dtype(), ", so the out tensor can't be of dtype ", out.dtype());
  TORCH_CHECK(out.device() == result.device(),
      "the result is on ", result.device(), ", so the out tensor can't be on ", out.device());
  out.copy_(result);
}

void copy_arg(const TensorList& outs, const TensorList& results) {
  TORCH_INTERNAL_ASSERT(outs.size() == results.size());
  for (const auto at : c10::irange(outs.size())) {
    copy_arg(outs[at], results[at]);
  }
}

} // namespace

$endif
$if CompositeViewCopyKernel_Definitions
// ---- Views, copied ----

$for kernel in CompositeViewCopyKernel_Definitions
$kernel

$endfor
$endif
$if GeneratedCompositeFunctional_Definitions
// ---- Functional forms, derived from forms that write to their arguments ----

$for kernel in GeneratedCompositeFunctional_Definitions
$kernel

$endfor
$endif
$if GeneratedCompositeOut_Definitions
// ---- Out forms, derived from functional ones ----

$for kernel in GeneratedCompositeOut_Definitions
$kernel

$endfor
$endif
} // namespace at::native
