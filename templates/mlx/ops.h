// $generated_comment
// The operators of `$name`.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "mlx/mlx.h"

namespace $name {

namespace mx = mlx::core;

$for op in operators
$for line in op.doc_lines
// $line
$endfor
${op.returns} ${op.name}(${op.parameters_with_defaults});

$endfor
$if composite_functions
// What composite operators compute; these functions are written by hand.
namespace composite {

$for op in composite_functions
${op.returns} ${op.name}(${op.parameters});
$endfor

} // namespace composite

$endif
} // namespace $name
