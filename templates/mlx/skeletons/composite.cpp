// $generated_comment
// The composite operators of `$name`: copy this to a source that SOURCES names, and fill it in.
#include <stdexcept>

#include "$name/ops.h"

namespace $name::composite {

$for op in composite_functions
${op.returns} ${op.name}(${op.parameters}) {
  throw std::logic_error("${op.name} is not written yet");
}

$endfor
} // namespace $name::composite
