$# Makes FunctionalInverses.h, where functionalization finds out how each view is undone.
$#   view_inverse_declarations   the declarations, a line each
#pragma once
// ${generated_comment}

#include <ATen/FunctionalStorageImpl.h>
#include <ATen/Tensor.h>

namespace at::functionalization {

// Each function gives back the base of a view that has been changed, with the change in it.
// They are declared here and written by hand, next to their operators.
struct FunctionalInverses {
$if view_inverse_declarations
  $view_inverse_declarations

$endif
  // Not generated: these views are made of others, but some callers undo them in one step.
  static at::Tensor chunk_inverse(
      const at::Tensor& base, const at::Tensor& mutated_view, InverseReturnMode inverse_return_mode,
      int64_t mutated_view_idx, int chunks, int dim);
  static at::Tensor narrow_inverse(
      const at::Tensor& base, const at::Tensor& mutated_view, InverseReturnMode inverse_return_mode,
      int dim, c10::SymInt start, c10::SymInt length);
};

} // namespace at::functionalization
