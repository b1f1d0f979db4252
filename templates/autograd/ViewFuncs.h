$# Makes ViewFuncs.h: a class for each view, whose objects know with which arguments one was taken.
$#   ops_headers             includes, if every operator has headers of its own
$#   view_func_declarations  the classes
#pragma once
// ${generated_comment}

#include <c10/core/SymIntArrayRef.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/library.h>

#ifdef AT_PER_OPERATOR_HEADERS
$ops_headers
#else
#include <ATen/Operators.h>
#endif

namespace torch::autograd::generated {

using at::ArrayRef;
using at::IntArrayRef;
using at::Scalar;
using at::ScalarType;
using at::Tensor;
using at::Type;
using c10::fmap;
using std::optional;
$for declaration in view_func_declarations

$declaration
$endfor

} // namespace torch::autograd::generated
