$# Makes MethodOperators.h: the entry points of the operators that are members of Tensor.
$#   MethodOperators_includes      the operators' own headers, if they have such
$#   MethodOperators_declarations  or else all entry points
#pragma once
// ${generated_comment}

#ifdef TORCH_ASSERT_NO_OPERATORS
#error "This file was to be independent of operators, but this header changes with every member of Tensor."
#endif

// Tensor's own header includes this one, so types must do incomplete.
#include <ATen/core/ATen_fwd.h>
#include <string_view>
#include <tuple>
#include <vector>
$if MethodOperators_includes

$MethodOperators_includes
$endif
$if MethodOperators_declarations

namespace at::_ops {
$MethodOperators_declarations

} // namespace at::_ops
$endif
