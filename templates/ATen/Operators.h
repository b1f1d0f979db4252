$# Makes Operators.h: the entry points of all operators.
$#   Operators_includes      the operators' own headers; without such, the one with Tensor's members
$#   Operators_declarations  the entry points of the others, if operators have no headers of their own
#pragma once
// ${generated_comment}

#if defined(TORCH_ASSERT_NO_OPERATORS)
#error "This file was to be independent of operators, but this header changes with every one of them."
#elif defined(AT_PER_OPERATOR_HEADERS) && defined(TORCH_ASSERT_ONLY_METHOD_OPERATORS)
#error "This header changes with every operator. Include <ATen/ops/OPERATOR_ops.h> instead."
#endif

#include <tuple>
#include <vector>

#include <c10/core/QScheme.h>
#include <c10/core/Scalar.h>
#include <c10/core/SymInt.h>
#include <c10/core/SymIntArrayRef.h>
#include <c10/core/TensorOptions.h>
#include <c10/util/OptionalArrayRef.h>

$Operators_includes

// One overload of an operator, by name.  `add.Tensor` is ATEN_OP2(add, Tensor), the class with its
// `name`, `overload_name`, `schema_str` and C++ type `schema`; ATEN_FN2(add, Tensor) is the function
// that calls it, with parameters in the order of the schema, and has an address.  An overload without
// a name goes by ATEN_OP and ATEN_FN.  Use these rather than at::_ops, whose names may change.
#define ATEN_OP(op_name) at::_ops::op_name
#define ATEN_OP2(op_name, overload) at::_ops::op_name##_##overload
#define ATEN_FN(op_name) ATEN_OP(op_name)::call
#define ATEN_FN2(op_name, overload) ATEN_OP2(op_name, overload)::call
$if Operators_declarations

namespace at::_ops {
$Operators_declarations

} // namespace at::_ops
$endif
