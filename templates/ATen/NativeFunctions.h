$# Makes NativeFunctions.h: the kernels of all operators, as their authors define them.
$#   NativeFunctions_includes      the operators' own headers; without such, the one with all meta functions
$#   NativeFunctions_declarations  the kernels' declarations, in their namespaces, if operators have no own headers
#pragma once
// ${generated_comment}

#if defined(TORCH_ASSERT_NO_OPERATORS)
#error "This file was to be independent of operators, but this header changes with every one of them."
#elif defined(AT_PER_OPERATOR_HEADERS) && defined(TORCH_ASSERT_ONLY_METHOD_OPERATORS)
#error "This header changes with every operator. Include <ATen/ops/OPERATOR_native.h> instead."
#endif

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

$NativeFunctions_includes
$if NativeFunctions_declarations

$NativeFunctions_declarations
$endif
