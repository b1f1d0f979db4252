// $generated_comment
// The CPU kernels of `$name`: copy this to kernels.h, in a folder that INCLUDE_DIRECTORIES names, and fill it in.
// Pointwise kernels get elements, those of half precision as float; others get views of whole arrays.
#pragma once

#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "$name/runtime.h"

namespace $name {

$for op in kernels
$if op.cpu
${op.kernel_prefix}
${op.kernel_returns} ${op.cpu}(${op.kernel_parameters}) {
  throw std::logic_error("${op.cpu} is not written yet");
}

$endif
$endfor
} // namespace $name
