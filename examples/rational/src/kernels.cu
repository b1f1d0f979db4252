// The kernels of the library `rational` that run on CUDA devices.
#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/cuda/Loops.cuh>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sum.h>

#include <rational/ops/harmonic_mean_native.h>
#include <rational/ops/ratio_native.h>

namespace rational::native {

TORCH_IMPL_FUNC(ratio_out_cuda)
(const at::Tensor& self, const at::Tensor& other, const at::Scalar& eps, const at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES(common_dtype(), "ratio", [&] {
    const auto added = eps.to<scalar_t>();
    at::native::gpu_kernel(*this, [=] GPU_LAMBDA(scalar_t a, scalar_t b) -> scalar_t { return a / (b + added); });
  });
}

TORCH_IMPL_FUNC(harmonic_mean_out_cuda)
(const at::Tensor& self, int64_t dim, bool keepdim, int64_t count, const at::Tensor& out) {
  out.copy_(at::reciprocal(at::sum(at::reciprocal(self), dim, keepdim)).mul_(count));
}

} // namespace rational::native
