$# Makes RegisterBackendSelect.cpp: kernels of factories, which find out for which backend they are called.
$#   unique_ops_headers                     includes, if every operator has headers of its own
$#   backend_select_method_definitions      the kernels
$#   backend_select_function_registrations  a statement for each that registers it
// ${generated_comment}
// The dispatcher finds a backend by the tensors among the arguments.  Factories may have none, so
// these kernels come first: they look at the tensor options and dispatch anew, with a key made of them.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/DispatchKeyExtractor.h>
#include <torch/library.h>

#ifdef AT_PER_OPERATOR_HEADERS
$unique_ops_headers
#else
#include <ATen/Operators.h>
#endif

namespace at {
namespace {
$for kernel in backend_select_method_definitions

$kernel
$endfor
$if backend_select_function_registrations

TORCH_LIBRARY_IMPL(aten, BackendSelect, m) {
  $backend_select_function_registrations
}
$endif

} // namespace
} // namespace at
