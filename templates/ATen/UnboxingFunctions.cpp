$# Makes UnboxingFunctions_0.cpp … and UnboxingFunctionsEverything.cpp: kernels that take arguments from a stack.
$#   definitions   a function for each selected operator
// ${generated_comment}
// Kernels of a share of the selected operators.  An operator's name says which share it is in.

#include <ATen/UnboxingFunctions.h>

#include <ATen/Functions.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <utility>
#include <vector>

namespace at::unboxing {

using torch::jit::drop;
using torch::jit::pack;
using torch::jit::peek;
$definitions

} // namespace at::unboxing
