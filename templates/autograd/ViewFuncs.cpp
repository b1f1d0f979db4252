$# Makes ViewFuncs.cpp: what the classes of ViewFuncs.h do.
$#   view_func_definitions   the members of each class
// ${generated_comment}
// How autograd takes each view again, of the same base or of another.

#include <torch/csrc/autograd/generated/ViewFuncs.h>

using at::IntArrayRef;
using at::Scalar;
using at::Tensor;
using at::TensorList;

namespace torch::autograd::generated {
$for definition in view_func_definitions

$definition
$endfor

} // namespace torch::autograd::generated
