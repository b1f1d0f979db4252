// A device that is none: its memory is the host's, and its kernels run on the CPU.
#pragma once
#include <ATen/core/Tensor.h>

namespace toy {

constexpr c10::DeviceIndex device_count = 2;

// The current device of this thread.
c10::DeviceIndex current_device();

// A tensor of the CPU's on the memory of a tensor of the device's.
at::Tensor on_host(const at::Tensor& tensor);

} // namespace toy
