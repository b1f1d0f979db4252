$# Makes ops/<operator>.h: the C++ functions that call one operator, in all its forms and overloads.
$#   operator_includes            the include of the header with the operator's entry points
$#   static_dispatch_ops_headers  includes of backends that are called straight away; usually none
$#   function_definitions         the functions, inline
#pragma once
// ${generated_comment}

#include <optional>
#include <string_view>

#include <ATen/Context.h>
#include <ATen/DeviceGuard.h>
#include <ATen/TensorUtils.h>
#include <ATen/TracerMode.h>
#include <ATen/core/Generator.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <c10/core/Scalar.h>
#include <c10/core/Storage.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/Deprecated.h>

$operator_includes
$if static_dispatch_ops_headers
$static_dispatch_ops_headers
$endif

namespace at {
$if function_definitions
$function_definitions
$endif

} // namespace at
