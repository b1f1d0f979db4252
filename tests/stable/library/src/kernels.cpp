#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/headeronly/core/Dispatch_v2.h>
#include <torch/headeronly/util/Exception.h>

#include <portable/Kernels.h>

namespace portable::native {
namespace {

using torch::headeronly::HeaderOnlyArrayRef;
using torch::headeronly::ScalarType;
using torch::stable::Tensor;
using Sizes = torch::headeronly::IntHeaderOnlyArrayRef;

std::vector<int64_t> broadcast_sizes(const Tensor& a, const Tensor& b) {
  const int64_t dims = std::max(a.dim(), b.dim());
  std::vector<int64_t> sizes(dims, 1);
  for (const Tensor* tensor : {&a, &b}) {
    for (int64_t dim = 0; dim < tensor->dim(); dim++) {
      int64_t& size = sizes[dims - tensor->dim() + dim];
      const int64_t own = tensor->size(dim);
      STD_TORCH_CHECK(own == size || own == 1 || size == 1, "sizes ", own, " and ", size, " don't match");
      size = own == 1 ? size : own;
    }
  }
  return sizes;
}

Tensor expand_to(const Tensor& tensor, const Tensor& out) {
  Tensor values = torch::stable::new_empty(out, out.sizes());
  torch::stable::copy_(values, tensor);
  return values;
}

template <class Compute>
void fill(const Tensor& self, const Tensor& other, Tensor& out, const Compute& compute) {
  const Tensor a = expand_to(self, out), b = expand_to(other, out);
  Tensor result = torch::stable::new_empty(out, out.sizes());
  THO_DISPATCH_V2(
      out.scalar_type(),
      "fill",
      AT_WRAP([&] {
        const auto* left = a.const_data_ptr<scalar_t>();
        const auto* right = b.const_data_ptr<scalar_t>();
        auto* values = result.mutable_data_ptr<scalar_t>();
        for (int64_t i = 0; i < result.numel(); i++) {
          values[i] = static_cast<scalar_t>(compute(left[i], right[i]));
        }
      }),
      AT_FLOATING_TYPES);
  torch::stable::copy_(out, result);
}

void resize(Tensor& out, Sizes sizes) {
  std::array<StableIValue, 3> stack{
      torch::stable::detail::from(out), torch::stable::detail::from(sizes), torch::stable::detail::from(std::nullopt)};
  STD_TORCH_CHECK(torch_call_dispatcher("aten::resize_", "", stack.data(), TORCH_ABI_VERSION) == 0, "can't resize out");
  torch::stable::detail::to<Tensor>(stack[0]);
}

auto scaled(double scale) {
  return [scale](auto a, auto b) { return a + scale * b; };
}

const auto divided = [](auto a, auto b) { return a / b; };

} // namespace

Tensor scaled_add(const Tensor& self, const Tensor& other, double scale) {
  Tensor out = torch::stable::new_empty(self, broadcast_sizes(self, other));
  fill(self, other, out, scaled(scale));
  return out;
}

Tensor& scaled_add_(Tensor& self, const Tensor& other, double scale) {
  fill(self, other, self, scaled(scale));
  return self;
}

Tensor& scaled_add_out(const Tensor& self, const Tensor& other, double scale, Tensor& out) {
  resize(out, broadcast_sizes(self, other));
  fill(self, other, out, scaled(scale));
  return out;
}

Tensor ratio(const Tensor& self, const Tensor& other) {
  Tensor out = torch::stable::new_empty(self, broadcast_sizes(self, other));
  fill(self, other, out, divided);
  return out;
}

Tensor& ratio_(Tensor& self, const Tensor& other) {
  fill(self, other, self, divided);
  return self;
}

Tensor rowsum(const Tensor& self, int64_t dim, bool keepdim) {
  const std::array<int64_t, 1> dims{dim};
  return torch::stable::sum(self, Sizes(dims.data(), 1), keepdim);
}

std::tuple<Tensor, Tensor> extremes(const Tensor& self) {
  const Tensor values = torch::stable::contiguous(self);
  Tensor least = torch::stable::new_empty(self, Sizes());
  Tensor greatest = torch::stable::new_empty(self, Sizes());
  THO_DISPATCH_V2(
      self.scalar_type(),
      "extremes",
      AT_WRAP([&] {
        const auto* first = values.const_data_ptr<scalar_t>();
        const auto found = std::minmax_element(first, first + values.numel());
        *least.mutable_data_ptr<scalar_t>() = *found.first;
        *greatest.mutable_data_ptr<scalar_t>() = *found.second;
      }),
      AT_FLOATING_TYPES);
  return {least, greatest};
}

Tensor total(HeaderOnlyArrayRef<Tensor> tensors, const std::optional<Tensor>& weight) {
  Tensor sum = torch::stable::clone(tensors[0]);
  for (size_t index = 1; index < tensors.size(); index++) {
    sum = torch::stable::subtract(sum, tensors[index], -1);
  }
  if (weight) {
    fill(sum, *weight, sum, [](auto a, auto b) { return a * b; });
  }
  return sum;
}

Tensor joined(HeaderOnlyArrayRef<std::optional<Tensor>> tensors) {
  std::vector<Tensor> found;
  for (const auto& tensor : tensors) {
    if (tensor) {
      found.push_back(*tensor);
    }
  }
  return total(found, std::nullopt);
}

Tensor masked(const Tensor& self, const Tensor& mask, const Tensor&) {
  Tensor out = torch::stable::new_empty(self, self.sizes());
  fill(self, mask, out, [](auto a, auto b) { return a * b; });
  return out;
}

std::tuple<Tensor, Tensor> parts(const Tensor& self) {
  Tensor whole = torch::stable::new_empty(self, self.sizes());
  fill(self, self, whole, [](auto a, auto) { return std::floor(a); });
  return {whole, torch::stable::subtract(self, whole)};
}

std::vector<Tensor> halves(const Tensor& self) {
  Tensor half = torch::stable::new_empty(self, self.sizes());
  fill(self, self, half, [](auto a, auto) { return a / 2; });
  return {half, torch::stable::clone(half)};
}

Tensor& clear_(Tensor& self) {
  torch::stable::zero_(self);
  return self;
}

void accumulate(Tensor& total, const Tensor& value) {
  fill(total, value, total, scaled(1));
}

void halve_all(HeaderOnlyArrayRef<Tensor> tensors, const std::optional<Tensor>& more) {
  std::vector<Tensor> written = tensors.vec();
  if (more) {
    written.push_back(*more);
  }
  for (Tensor& tensor : written) {
    fill(tensor, tensor, tensor, [](auto a, auto) { return a / 2; });
  }
}

Tensor copied(const Tensor& self) {
  return torch::stable::clone(self);
}

Tensor difference(const Tensor& self, const Tensor& other) {
  return torch::stable::subtract(self, other);
}

Tensor filled(
    Sizes size,
    double value,
    std::optional<ScalarType> dtype,
    std::optional<torch::headeronly::Layout> layout,
    std::optional<torch::stable::Device> device,
    std::optional<bool> pin_memory) {
  return torch::stable::full(size, value, dtype, layout, device, pin_memory);
}

Tensor shift(const Tensor& self, int64_t by) {
  return torch::stable::subtract(self, torch::stable::full({}, static_cast<double>(-by), self.scalar_type()));
}

Tensor shift_tensor(const Tensor& self, const Tensor& by) {
  return torch::stable::subtract(self, by, -1);
}

std::tuple<
    int64_t,
    double,
    bool,
    std::string,
    ScalarType,
    torch::headeronly::Layout,
    torch::stable::Device,
    torch::headeronly::MemoryFormat>
echo(
    int64_t a,
    double b,
    bool c,
    std::string_view d,
    ScalarType e,
    torch::headeronly::Layout f,
    torch::stable::Device g,
    torch::headeronly::MemoryFormat h) {
  return {a, b, c, std::string(d), e, f, g, h};
}

std::tuple<
    std::vector<int64_t>,
    std::vector<double>,
    std::vector<std::string>,
    std::vector<Tensor>,
    int64_t,
    std::vector<std::vector<int64_t>>>
echo_lists(
    Sizes a,
    HeaderOnlyArrayRef<double> b,
    HeaderOnlyArrayRef<std::string> c,
    HeaderOnlyArrayRef<Tensor> d,
    const std::vector<bool>& e,
    HeaderOnlyArrayRef<std::vector<int64_t>> f) {
  return {a.vec(), b.vec(), c.vec(), d.vec(), std::count(e.begin(), e.end(), true), f.vec()};
}

std::tuple<
    std::optional<int64_t>,
    std::optional<double>,
    std::optional<bool>,
    std::optional<std::string>,
    std::optional<Tensor>,
    std::optional<std::vector<int64_t>>,
    std::vector<std::optional<Tensor>>,
    std::optional<ScalarType>,
    std::optional<torch::stable::Device>,
    int64_t,
    std::vector<int64_t>>
echo_optional(
    std::optional<int64_t> a,
    std::optional<double> b,
    std::optional<bool> c,
    const std::optional<std::string>& d,
    const std::optional<Tensor>& e,
    std::optional<Sizes> f,
    HeaderOnlyArrayRef<std::optional<Tensor>> g,
    std::optional<ScalarType> h,
    std::optional<torch::stable::Device> i,
    int64_t j,
    Sizes k) {
  return {a, b, c, d, e, f ? std::make_optional(f->vec()) : std::nullopt, g.vec(), h, i, j, k.vec()};
}

} // namespace portable::native
