// $generated_comment
#pragma once
#include <c10/core/TensorOptions.h>
#include <$namespace/ops/${operator}_ops.h>

namespace $namespace {

$for function in functions
// ${function.origin}
inline ${function.declaration} {
  return ${function.call};
}

$endfor
} // namespace $namespace
