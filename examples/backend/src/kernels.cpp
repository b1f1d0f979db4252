// The kernels, as the generated PrivateUse1NativeFunctions.h declares them.  Real ones would start something on the
// device; these compute on the CPU, in the same memory.
#include <PrivateUse1NativeFunctions.h>

#include <ATen/EmptyTensor.h>
#include <ATen/ops/_amp_update_scale.h>
#include <ATen/ops/_foreach_neg.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/add.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rrelu_with_noise.h>
#include <ATen/ops/topk.h>
#include <c10/core/DeviceGuard.h>

#include <cstring>

#include "device.h"

namespace lab {
namespace {

constexpr c10::DispatchKeySet key(c10::DispatchKey::PrivateUse1);

at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.device().type() != device_type) {
    return tensor;
  }
  return at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU));
}

// What was computed on the host, on the device of `self`.
at::Tensor on_device_of(const at::Tensor& self, const at::Tensor& tensor) {
  const c10::OptionalDeviceGuard guard(self.device().type() == device_type ? std::optional(self.device()) : std::nullopt);
  const at::Tensor made = at::detail::empty_strided_generic(
      tensor.sizes(), tensor.strides(), allocator(), key, tensor.scalar_type());
  on_host(made).copy_(tensor);
  return made;
}

at::Tensor view_of(const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride, int64_t offset) {
  at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(), self.dtype());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset);
  return view;
}

} // namespace

// ------------------------------------------------------------------- what every device needs

at::Tensor Kernels::empty_symint(
    c10::SymIntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device> device,
    std::optional<bool>,
    std::optional<at::MemoryFormat> memory_format) {
  const c10::DeviceGuard guard(at::device_or_default(device));
  return at::detail::empty_generic(
      C10_AS_INTARRAYREF_SLOW(size), allocator(), key, c10::dtype_or_default(dtype), memory_format);
}

at::Tensor Kernels::empty_strided(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device> device,
    std::optional<bool>) {
  const c10::DeviceGuard guard(at::device_or_default(device));
  return at::detail::empty_strided_generic(size, stride, allocator(), key, c10::dtype_or_default(dtype));
}

const at::Tensor& Kernels::resize_(
    const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
  const size_t bytes = c10::multiply_integers(size) * self.element_size();
  if (self.storage().nbytes() < bytes) {
    c10::StorageImpl* storage = self.storage().unsafeGetStorageImpl();
    c10::DataPtr larger = allocator()->allocate(bytes);
    if (storage->nbytes() > 0) {
      std::memcpy(larger.get(), storage->data(), storage->nbytes());
    }
    storage->set_data_ptr_noswap(std::move(larger));
    storage->set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return self;
}

at::Tensor Kernels::as_strided(
    const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride, std::optional<int64_t> offset) {
  return view_of(self, size, stride, offset.value_or(self.storage_offset()));
}

at::Tensor Kernels::view_symint(const at::Tensor& self, c10::SymIntArrayRef size) {
  const at::Tensor shaped = on_host(self).view(C10_AS_INTARRAYREF_SLOW(size));
  return view_of(self, shaped.sizes(), shaped.strides(), self.storage_offset());
}

at::Tensor Kernels::_copy_from(const at::Tensor& self, const at::Tensor& dst, bool) {
  on_host(dst).copy_(on_host(self));
  return dst;
}

at::Tensor Kernels::_copy_from_and_resize(const at::Tensor& self, const at::Tensor& dst) {
  resize_(dst, self.sizes(), std::nullopt);
  return _copy_from(self, dst, false);
}

// -------------------------------------------------------------------------- what it can do

at::Tensor& Kernels::fill_(at::Tensor& self, const at::Scalar& value) {
  on_host(self).fill_(value);
  return self;
}

at::Tensor Kernels::abs(const at::Tensor& self) {
  return on_device_of(self, at::abs(on_host(self)));
}

at::Tensor Kernels::add(const at::Tensor& self, const at::Tensor& other, const at::Scalar& alpha) {
  return on_device_of(self, at::add(on_host(self), on_host(other), alpha));
}

at::Tensor Kernels::mul(const at::Tensor& self, const at::Tensor& other) {
  return on_device_of(self, at::mul(on_host(self), on_host(other)));
}

std::tuple<at::Tensor, at::Tensor> Kernels::topk(
    const at::Tensor& self, int64_t k, int64_t dim, bool largest, bool sorted) {
  const auto [values, indices] = at::topk(on_host(self), k, dim, largest, sorted);
  return {on_device_of(self, values), on_device_of(self, indices)};
}

std::vector<at::Tensor> Kernels::_foreach_neg(at::TensorList self) {
  std::vector<at::Tensor> made;
  for (const at::Tensor& tensor : self) {
    made.push_back(on_device_of(tensor, on_host(tensor).neg()));
  }
  return made;
}

std::tuple<at::Tensor, at::Tensor> Kernels::_amp_update_scale(
    const at::Tensor& self,
    const at::Tensor& growth_tracker,
    const at::Tensor& found_inf,
    double scale_growth_factor,
    double scale_backoff_factor,
    int64_t growth_interval) {
  const auto [scale, tracker] = at::_amp_update_scale(
      on_host(self),
      on_host(growth_tracker),
      on_host(found_inf),
      scale_growth_factor,
      scale_backoff_factor,
      growth_interval);
  return {on_device_of(self, scale), on_device_of(self, tracker)};
}

std::tuple<at::Tensor, at::Tensor> Kernels::rrelu_with_noise_functional(
    const at::Tensor& self,
    const at::Tensor& noise,
    const at::Scalar& lower,
    const at::Scalar& upper,
    bool training,
    std::optional<at::Generator>) {
  at::Tensor changed = on_host(noise).clone();
  const at::Tensor made = at::rrelu_with_noise(on_host(self), changed, lower, upper, training);
  return {on_device_of(self, made), on_device_of(self, changed)};
}

} // namespace lab
