$# Makes RedispatchFunctions.h: functions for kernels that hand an operator on to the keys behind theirs.
$#   function_redispatch_definitions   the functions, inline
#pragma once
// ${generated_comment}

#ifdef TORCH_ASSERT_ONLY_METHOD_OPERATORS
#error "This header changes with every operator. Include <ATen/ops/OPERATOR_ops.h> and call redispatch() instead."
#endif

#include <optional>

#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Operators.h>
#include <ATen/Tensor.h>
#include <ATen/TensorUtils.h>
#include <ATen/TracerMode.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Reduction.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Deprecated.h>

namespace at::redispatch {
$if function_redispatch_definitions
$function_redispatch_definitions
$endif

} // namespace at::redispatch
