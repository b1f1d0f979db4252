$# Makes ops/<operator>_ops.h: the entry points of one operator, in all its forms and overloads.
$#   declarations   a class for each
#pragma once
// ${generated_comment}

#include <string_view>
#include <tuple>
#include <vector>

// Tensor's own header includes this one, so types must do incomplete.
#include <ATen/core/ATen_fwd.h>

namespace at::_ops {
$declarations

} // namespace at::_ops
