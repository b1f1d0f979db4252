$# Makes ops/<operator>_native.h: the kernels of one operator, as their authors define them.
$#   extra_includes                the include of the meta functions' header, if a kernel is structured
$#   native_function_declarations  the kernels' declarations, in their namespaces
#pragma once
// ${generated_comment}

#include <optional>
#include <tuple>
#include <vector>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Deprecated.h>
$if extra_includes
$extra_includes
$endif

$native_function_declarations
