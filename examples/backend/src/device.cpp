// What torch must know of a device besides kernels: its memory, which device is the current one, and what
// to do about operators that it has no kernel for.
#include "device.h"

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/native/CPUFallback.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <torch/library.h>

#include <cstdlib>
#include <cstring>

namespace lab {
namespace {

thread_local c10::DeviceIndex current = 0;

struct Memory final : public c10::Allocator {
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

Memory memory;
REGISTER_ALLOCATOR(device_type, &memory)

// Work is over when a kernel returns, so there are no streams and no events.
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

// Autograd asks whether a device is in use before it runs kernels there.
struct Hooks final : public at::PrivateUse1HooksInterface {
  bool hasPrimaryContext(c10::DeviceIndex) const override {
    return true;
  }
};

Hooks hooks;
[[maybe_unused]] const bool has_hooks = (at::RegisterPrivateUse1HooksInterface(&hooks), true);

// The arguments are copied to the CPU, and the results back.
void on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  at::native::cpu_fallback(op, stack);
}

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_cpu>());
}

} // namespace

c10::DeviceIndex current_device() {
  return current;
}

c10::Allocator* allocator() {
  return &memory;
}

} // namespace lab
