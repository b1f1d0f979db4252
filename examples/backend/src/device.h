// A device that is none: its memory is the host's, and its kernels run on the CPU.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>

namespace lab {

constexpr auto device_type = c10::DeviceType::PrivateUse1;
constexpr c10::DeviceIndex device_count = 2;

c10::DeviceIndex current_device();
c10::Allocator* allocator();

} // namespace lab
