// The kernels of the library `$name`, as the generated <$name/NativeFunctions.h> declares them.
#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/cpu/Loops.h>

#include <$name/NativeFunctions.h>

namespace ${name}::meta {

// The shape function: what the result looks like.
TORCH_META_FUNC(scaled_add)(const at::Tensor& self, const at::Tensor& other, double scale) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

} // namespace ${name}::meta

namespace ${name}::native {

// The kernel: fills the result.
TORCH_IMPL_FUNC(scaled_add_out)
(const at::Tensor& self, const at::Tensor& other, double scale, const at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES(common_dtype(), "scaled_add", [&] {
    const auto factor = static_cast<scalar_t>(scale);
    at::native::cpu_kernel(*this, [=](scalar_t a, scalar_t b) -> scalar_t { return a + factor * b; });
  });
}

} // namespace ${name}::native
