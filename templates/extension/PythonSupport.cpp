// $generated_comment
// What the functions of the Python package need of torch's larger headers, which other sources include anyway.
#include <ATen/DeviceAccelerator.h>
#include <ATen/ScalarOps.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
$if is_traced
#include <torch/csrc/jit/frontend/tracer.h>
$endif
#include <$namespace/Macros.h>
#include <initializer_list>

namespace $namespace::detail::python {

${api} at::Tensor number(const at::Scalar& value, std::initializer_list<const at::Tensor*> others) {
  at::Tensor wrapped = at::native::wrapped_scalar_tensor(value);
  bool is_seen = c10::impl::TorchDispatchModeTLS::any_modes_set();
  for (const at::Tensor* other : others) {
    is_seen = is_seen || other->key_set().has(c10::DispatchKey::Python);
  }
  if (C10_LIKELY(!is_seen)) {
    return wrapped;
  }
  at::native::ResultTypeState types;
  for (const at::Tensor* other : others) {
    types = at::native::update_result_type_state(*other, types);
  }
  types = at::native::update_result_type_state(wrapped, types);
  return at::scalar_tensor(value, at::TensorOptions(at::native::result_type(types)));
}

${api} at::Device accelerator(int64_t index) {
  TORCH_CHECK(index >= 0, "Device index must not be negative");
  return at::Device(at::getAccelerator(true).value(), static_cast<c10::DeviceIndex>(index));
}

$if is_traced
${api} bool is_tracing() {
  return torch::jit::tracer::isTracing();
}

${api} void trace_number(const std::string& name, size_t signature, const at::Tensor& value) {
  torch::jit::tracer::ArgumentStash::stashValue(name, signature, value, c10::IntType::get());
}

${api} void trace_element(const std::string& name, size_t size, size_t place, const at::Tensor& value) {
  torch::jit::tracer::ArgumentStash::stashIntArrayRefElem(name, size, place, value);
}

$endif
} // namespace $namespace::detail::python
