$# Makes ops/<operator>_<key>_dispatch.h: one operator's functions for one backend, past the dispatcher.
$#   dispatch_namespace               the backend's namespace, such as cpu
$#   dispatch_namespaced_declarations the functions' declarations
#pragma once
// ${generated_comment}

// Tensor's own header may include this one, so types stay incomplete where no default argument needs them.
#include <ATen/core/ATen_fwd.h>
#include <ATen/core/Reduction.h>
#include <c10/core/MemoryFormat.h>
#include <c10/core/Scalar.h>

namespace at::$dispatch_namespace {

$dispatch_namespaced_declarations

} // namespace at::$dispatch_namespace
