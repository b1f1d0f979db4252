// What torch must know of a device: memory, which device is the current one, and a few of ATen's operators.
#include "device.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/CPUFallback.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdlib>
#include <cstring>

namespace toy {
namespace {

constexpr auto device_type = c10::DeviceType::PrivateUse1;
thread_local c10::DeviceIndex current = 0;

struct Allocator final : public c10::Allocator {
  c10::DataPtr allocate(size_t size) override {
    void* memory = size == 0 ? nullptr : std::malloc(size);
    return {memory, memory, &std::free, c10::Device(device_type, current)};
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return &std::free;
  }
  void copy_data(void* to, const void* from, size_t count) const override {
    std::memcpy(to, from, count);
  }
};

Allocator allocator;
REGISTER_ALLOCATOR(device_type, &allocator)

// Work on the device is over when a kernel returns, so there are no streams and no events.
struct Guard final : public c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override {
    return device_type;
  }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device old = getDevice();
    setDevice(device);
    return old;
  }
  c10::Device getDevice() const override {
    return {device_type, current};
  }
  void setDevice(c10::Device device) const override {
    TORCH_CHECK(device.index() < device_count, "there is no device ", device);
    current = device.index();
  }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    current = device.index();
  }
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return getStream(stream.device());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return device_count;
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard)

// ------------------------------------------------------------------- the operators of ATen's

constexpr c10::DispatchKeySet key(c10::DispatchKey::PrivateUse1);

c10::Device device_or_current(std::optional<c10::Device> device) {
  const bool is_given = device.has_value() && device->has_index();
  return is_given ? *device : c10::Device(device_type, current);
}

at::Tensor empty(
    at::IntArrayRef size,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device> device,
    std::optional<bool>,
    std::optional<at::MemoryFormat> memory_format) {
  const c10::DeviceGuard guard(device_or_current(device));
  return at::detail::empty_generic(size, &allocator, key, c10::dtype_or_default(dtype), memory_format);
}

at::Tensor empty_strided(
    at::IntArrayRef size,
    at::IntArrayRef stride,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout>,
    std::optional<at::Device> device,
    std::optional<bool>) {
  const c10::DeviceGuard guard(device_or_current(device));
  return at::detail::empty_strided_generic(size, stride, &allocator, key, c10::dtype_or_default(dtype));
}

at::Tensor copy_from(const at::Tensor& self, const at::Tensor& destination, bool) {
  on_host(destination).copy_(on_host(self));
  return destination;
}

const at::Tensor& resize(const at::Tensor& self, at::IntArrayRef size, std::optional<at::MemoryFormat>) {
  const size_t bytes = c10::multiply_integers(size) * self.element_size();
  if (self.storage().nbytes() < bytes) {
    c10::StorageImpl* storage = self.storage().unsafeGetStorageImpl();
    c10::DataPtr larger = allocator.allocate(bytes);
    if (storage->nbytes() > 0) {
      std::memcpy(larger.get(), storage->data(), storage->nbytes());
    }
    storage->set_data_ptr_noswap(std::move(larger));
    storage->set_nbytes(bytes);
  }
  self.unsafeGetTensorImpl()->set_sizes_contiguous(size);
  return self;
}

at::Tensor copy_from_and_resize(const at::Tensor& self, const at::Tensor& destination) {
  resize(destination, self.sizes(), std::nullopt);
  return copy_from(self, destination, false);
}

at::Tensor& fill(at::Tensor& self, const at::Scalar& value) {
  on_host(self).fill_(value);
  return self;
}

at::Tensor strided_view(
    const at::Tensor& self, at::IntArrayRef size, at::IntArrayRef stride, std::optional<int64_t> offset) {
  at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(
      c10::TensorImpl::VIEW, c10::Storage(self.storage()), self.key_set(), self.dtype());
  view.unsafeGetTensorImpl()->set_sizes_and_strides(size, stride, offset.value_or(self.storage_offset()));
  return view;
}

at::Tensor view(const at::Tensor& self, at::IntArrayRef size) {
  const at::Tensor shaped = on_host(self).view(size);
  return strided_view(self, shaped.sizes(), shaped.strides(), self.storage_offset());
}

// Whatever else is asked for runs on the CPU: the arguments are copied there, and the results back.
void fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

} // namespace

c10::DeviceIndex current_device() {
  return current;
}

at::Tensor on_host(const at::Tensor& tensor) {
  if (tensor.device().type() != device_type) {
    return tensor;
  }
  return at::from_blob(
      tensor.data_ptr(), tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.dtype()).device(at::kCPU));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("empty.memory_format", TORCH_FN(empty));
  m.impl("empty_strided", TORCH_FN(empty_strided));
  m.impl("_copy_from", TORCH_FN(copy_from));
  m.impl("_copy_from_and_resize", TORCH_FN(copy_from_and_resize));
  m.impl("fill_.Scalar", TORCH_FN(fill));
  m.impl("resize_", TORCH_FN(resize));
  m.impl("as_strided", TORCH_FN(strided_view));
  m.impl("view", TORCH_FN(view));
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&fallback>());
}

} // namespace toy
