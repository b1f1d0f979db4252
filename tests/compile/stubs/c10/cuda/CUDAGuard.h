// As much of the guard as generated code uses: a torch without CUDA can't include its own header.
#pragma once
#include <c10/core/Device.h>
#include <optional>

namespace c10::cuda {
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard();
  explicit OptionalCUDAGuard(std::optional<Device> device);
  void reset_device(Device device);
  std::optional<Device> current_device() const;
};
class CUDAGuard {
 public:
  explicit CUDAGuard(Device device);
};
} // namespace c10::cuda
