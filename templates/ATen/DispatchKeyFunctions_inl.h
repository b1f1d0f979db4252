$# Makes <Key>Functions_inl.h: one backend's functions of all operators, past the dispatcher.
$#   dispatch_namespace                the backend's namespace, such as cpu
$#   DispatchKeyFunctions_inl_includes the operators' own headers, if they have such
$#   dispatch_namespaced_declarations  or else all declarations, in their namespaces
#pragma once
// ${generated_comment}

#if defined(AT_PER_OPERATOR_HEADERS) && defined(TORCH_ASSERT_ONLY_METHOD_OPERATORS)
#error "This header changes with every operator. Include <ATen/ops/OPERATOR_${dispatch_namespace}_dispatch.h> instead."
#endif

// Tensor's own header may include this one, so types stay incomplete where no default argument needs them.
#include <ATen/core/ATen_fwd.h>
#include <ATen/core/Reduction.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/Scalar.h>
$if DispatchKeyFunctions_inl_includes

$DispatchKeyFunctions_inl_includes
$endif
$if dispatch_namespaced_declarations

$dispatch_namespaced_declarations
$endif
