// The kernels of the library `$name`, as the generated <$name/Kernels.h> declares them.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/headeronly/core/Dispatch_v2.h>
#include <torch/headeronly/util/Exception.h>

#include <$name/Kernels.h>

namespace ${name}::native {
namespace {

using torch::stable::Tensor;
using Sizes = torch::headeronly::IntHeaderOnlyArrayRef;

// The sizes that both tensors are broadcast to.
std::vector<int64_t> broadcast_sizes(const Tensor& a, const Tensor& b) {
  const int64_t dims = std::max(a.dim(), b.dim());
  std::vector<int64_t> sizes(dims, 1);
  for (const Tensor* tensor : {&a, &b}) {
    for (int64_t dim = 0; dim < tensor->dim(); dim++) {
      int64_t& size = sizes[dims - tensor->dim() + dim];
      const int64_t own = tensor->size(dim);
      STD_TORCH_CHECK(own == size || own == 1 || size == 1, "scaled_add(): sizes ", own, " and ", size, " don't match");
      size = own == 1 ? size : own;
    }
  }
  return sizes;
}

// `tensor` as contiguous values with the sizes and the type of `out`.
Tensor expand_to(const Tensor& tensor, const Tensor& out) {
  if (tensor.is_contiguous() && tensor.sizes() == out.sizes() && tensor.scalar_type() == out.scalar_type()) {
    return tensor;
  }
  Tensor values = torch::stable::new_empty(out, out.sizes());
  torch::stable::copy_(values, tensor);
  return values;
}

// The stable ABI has no `resize_`, so this calls torch's operator.
void resize(Tensor& out, Sizes sizes) {
  if (out.sizes() != sizes) {
    std::array<StableIValue, 3> stack{
        torch::stable::detail::from(out), torch::stable::detail::from(sizes), torch::stable::detail::from(std::nullopt)};
    STD_TORCH_CHECK(torch_call_dispatcher("aten::resize_", "", stack.data(), TORCH_ABI_VERSION) == 0, "can't resize out");
    torch::stable::detail::to<Tensor>(stack[0]);
  }
}

// Fills `out`, which has the sizes of the result.
void fill(const Tensor& self, const Tensor& other, double scale, Tensor& out) {
  const Tensor a = expand_to(self, out), b = expand_to(other, out);
  Tensor result = out.is_contiguous() ? out : torch::stable::new_empty(out, out.sizes());
  THO_DISPATCH_V2(
      out.scalar_type(),
      "scaled_add",
      AT_WRAP([&] {
        const auto* left = a.const_data_ptr<scalar_t>();
        const auto* right = b.const_data_ptr<scalar_t>();
        auto* values = result.mutable_data_ptr<scalar_t>();
        const auto factor = static_cast<scalar_t>(scale);
        torch::stable::parallel_for(0, result.numel(), 8192, [=](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; i++) {
            values[i] = left[i] + factor * right[i];
          }
        });
      }),
      AT_FLOATING_TYPES);
  if (!out.is_contiguous()) {
    torch::stable::copy_(out, result);
  }
}

} // namespace

Tensor scaled_add(const Tensor& self, const Tensor& other, double scale) {
  STD_TORCH_CHECK(self.scalar_type() == other.scalar_type(), "scaled_add(): expected two tensors of one type");
  Tensor out = torch::stable::new_empty(self, broadcast_sizes(self, other));
  fill(self, other, scale, out);
  return out;
}

Tensor& scaled_add_(Tensor& self, const Tensor& other, double scale) {
  STD_TORCH_CHECK(self.sizes() == Sizes(broadcast_sizes(self, other)), "scaled_add_(): the result doesn't fit self");
  fill(self, other, scale, self);
  return self;
}

Tensor& scaled_add_out(const Tensor& self, const Tensor& other, double scale, Tensor& out) {
  resize(out, broadcast_sizes(self, other));
  fill(self, other, scale, out);
  return out;
}

} // namespace ${name}::native
