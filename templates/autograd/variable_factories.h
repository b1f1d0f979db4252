$# Makes variable_factories.h: functions that make tensors, in namespace torch.
$#   ops_headers           includes, if every operator has headers of its own
$#   function_definitions  a function for each factory among the operators
#pragma once
// ${generated_comment}

#include <functional>
#include <initializer_list>
#include <utility>

#include <ATen/TracerMode.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/MemoryFormat.h>
#include <c10/util/ArrayRef.h>
#include <torch/csrc/api/include/torch/detail/TensorDataContainer.h>
#include <torch/csrc/autograd/variable.h>

#ifdef AT_PER_OPERATOR_HEADERS
#include <ATen/ops/from_blob.h>
$ops_headers
#else
#include <ATen/Functions.h>
#endif

namespace torch {

using at::MemoryFormat;
using Deleter = std::function<void(void*)>;

// Autograd has these to itself: at::'s own function runs below it and makes a tensor without history,
// which then becomes one that requires a gradient if the options say so.

// A tensor of the elements in nested braces.  Floating-point numbers get torch::get_default_dtype(), integers at::kLong.
inline at::Tensor tensor(detail::TensorDataContainer elements, const at::TensorOptions& options = {}) {
  auto made = elements.convert_to_tensor(options.requires_grad(std::nullopt));
  return autograd::make_variable(std::move(made), options.requires_grad());
}

namespace detail {

template <typename... Arguments>
at::Tensor from_blob_with_autograd(const at::TensorOptions& options, const Arguments&... arguments) {
  at::Tensor made;
  {
    const at::AutoDispatchBelowAutograd below_autograd;
    const at::tracer::impl::NoTracerDispatchMode untraced;
    made = at::from_blob(arguments..., options.requires_grad(std::nullopt));
  }
  return autograd::make_variable(std::move(made), options.requires_grad());
}

} // namespace detail

// A tensor of memory that is there already.  It isn't copied: the caller keeps it as long as the tensor lives,
// or gives a deleter that is called with it at the end.
inline at::Tensor from_blob(void* data, at::IntArrayRef sizes, const at::TensorOptions& options = {}) {
  return detail::from_blob_with_autograd(options, data, sizes);
}
inline at::Tensor from_blob(
    void* data, at::IntArrayRef sizes, const Deleter& deleter, const at::TensorOptions& options = {}) {
  return detail::from_blob_with_autograd(options, data, sizes, deleter);
}
inline at::Tensor from_blob(
    void* data, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options = {}) {
  return detail::from_blob_with_autograd(options, data, sizes, strides);
}
inline at::Tensor from_blob(
    void* data,
    at::IntArrayRef sizes,
    at::IntArrayRef strides,
    const Deleter& deleter,
    const at::TensorOptions& options = {}) {
  return detail::from_blob_with_autograd(options, data, sizes, strides, deleter);
}
$if function_definitions

$function_definitions
$endif

} // namespace torch
