// The kernels of the library `toy`, as the generated <toy/NativeFunctions.h> declares them.
#include <ATen/ExpandUtils.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>

#include <toy/NativeFunctions.h>

#include "device.h"

namespace toy::meta {

TORCH_META_FUNC(scaled_add)(const at::Tensor& self, const at::Tensor& other, double scale) {
  set_output_raw_strided(0, at::infer_size(self.sizes(), other.sizes()), {}, self.options());
}

} // namespace toy::meta

namespace toy::native {

TORCH_IMPL_FUNC(scaled_add_out)
(const at::Tensor& self, const at::Tensor& other, double scale, const at::Tensor& out) {
  at::add_out(const_cast<at::Tensor&>(out), self, other, scale);
}

TORCH_IMPL_FUNC(scaled_add_out_toy)
(const at::Tensor& self, const at::Tensor& other, double scale, const at::Tensor& out) {
  at::Tensor result = on_host(out);
  at::add_out(result, on_host(self), on_host(other), scale);
}

at::Tensor& negate_(at::Tensor& self) {
  return self.neg_();
}

at::Tensor& negate_toy_(at::Tensor& self) {
  on_host(self).neg_();
  return self;
}

at::Tensor filled(
    at::IntArrayRef size,
    const at::Scalar& value,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout,
    std::optional<at::Device> device,
    std::optional<bool> pin_memory) {
  at::Tensor made = at::empty(size, dtype, layout, device, pin_memory, std::nullopt);
  on_host(made).fill_(value);
  return made;
}

int64_t device_index(const at::Tensor&) {
  return current_device();
}

} // namespace toy::native
