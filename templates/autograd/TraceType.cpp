$# Makes TraceType_N.cpp: kernels that record each call of an operator while a program is traced.
$#   unique_ops_headers           includes, if every operator has headers of its own
$#   trace_method_definitions     the kernels
$#   trace_wrapper_registrations  a statement for each that registers it
// ${generated_comment}
// A share of the operators, as torch.jit.trace sees them: each call becomes a node of a graph.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <ATen/quantized/Quantizer.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/jit/frontend/tracer.h>
#include <torch/library.h>

#ifdef AT_PER_OPERATOR_HEADERS
$unique_ops_headers
#else
#include <ATen/Operators.h>
#endif

using namespace at;

namespace torch {
$if trace_method_definitions

namespace TraceType {
namespace {

$trace_method_definitions

} // namespace
} // namespace TraceType

namespace {

TORCH_LIBRARY_IMPL(aten, Tracer, m) {
  $trace_wrapper_registrations
}

} // namespace
$endif

} // namespace torch
