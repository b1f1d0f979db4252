// The kernels of the library `rational` that run on the CPU or anywhere.
// What they are called and what they take is declared in the generated <rational/NativeFunctions.h>.
// <ATen/ATen.h>, which has all operators of torch, takes a compiler as long as all of this source.
#define AT_PER_OPERATOR_HEADERS
#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/TensorOperators.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/ops/abs.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp_max.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/frac.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/trunc.h>
#include <ATen/ops/where.h>

#include <rational/Functions.h>
#include <rational/NativeFunctions.h>


namespace rational::meta {

TORCH_META_FUNC(ratio_Tensor)
(const at::Tensor& self, const at::Tensor& other, const at::Scalar& eps) {
  build_borrowing_binary_float_op(maybe_get_output(), self, other);
}

TORCH_META_FUNC(blend)
(const at::Tensor& self, const at::Tensor& other, const at::Scalar& weight) {
  build_borrowing_binary_op(maybe_get_output(), self, other);
}

// With `sym_sizes` and `set_output_symint` a shape function serves dynamic shapes.
TORCH_PRECOMPUTE_META_FUNC(harmonic_mean)
(const at::Tensor& self, int64_t dim, bool keepdim) {
  TORCH_CHECK(self.is_floating_point(), "harmonic_mean: expected floating point numbers, but got ", self.dtype());
  TORCH_CHECK(self.dim() > 0, "harmonic_mean: expected a tensor with dimensions");
  dim = at::maybe_wrap_dim(dim, self.dim());
  auto sizes = self.sym_sizes().vec();
  const auto count = sizes[dim].maybe_as_int();
  if (keepdim) {
    sizes[dim] = 1;
  } else {
    sizes.erase(sizes.begin() + dim);
  }
  set_output_symint(0, sizes, self.options());
  return TORCH_PRECOMPUTE_STRUCT(harmonic_mean)().set_dim(dim).set_count(count.value_or(0));
}

TORCH_META_FUNC(split_fraction)(const at::Tensor& self) {
  TORCH_CHECK(self.is_floating_point(), "split_fraction: expected floating point numbers, but got ", self.dtype());
  set_output_raw_strided(0, self.sizes(), {}, self.options());
  set_output_raw_strided(1, self.sizes(), {}, self.options());
}

} // namespace rational::meta

namespace rational::native {

TORCH_IMPL_FUNC(ratio_out)
(const at::Tensor& self, const at::Tensor& other, const at::Scalar& eps, const at::Tensor& out) {
  AT_DISPATCH_FLOATING_TYPES(common_dtype(), "ratio", [&] {
    const auto added = eps.to<scalar_t>();
    at::native::cpu_kernel(*this, [=](scalar_t a, scalar_t b) -> scalar_t { return a / (b + added); });
  });
}

TORCH_IMPL_FUNC(harmonic_mean_out)
(const at::Tensor& self, int64_t dim, bool keepdim, int64_t count, const at::Tensor& out) {
  out.copy_(at::reciprocal(at::sum(at::reciprocal(self), dim, keepdim)).mul_(count));
}

TORCH_IMPL_FUNC(split_fraction_out)
(const at::Tensor& self, const at::Tensor& whole, const at::Tensor& part) {
  whole.copy_(at::trunc(self));
  part.copy_(at::frac(self));
}

at::Tensor ratio(const at::Tensor& self, const at::Scalar& other, const at::Scalar& eps) {
  return rational::ratio(self, at::scalar_tensor(other, self.options()), eps);
}

at::Tensor& ratio_(at::Tensor& self, const at::Scalar& other, const at::Scalar& eps) {
  return rational::ratio_(self, at::scalar_tensor(other, self.options()), eps);
}

at::Tensor relative_error(const at::Tensor& self, const at::Tensor& other) {
  return rational::ratio(at::sub(self, other).abs(), other.abs());
}

at::Tensor term_symint(const at::Tensor& self, c10::SymInt at) {
  return self.select_symint(-1, at);
}

at::Tensor& saturate_(at::Tensor& self, double limit) {
  return self.div_(self.abs().div_(limit).add_(1));
}

at::Tensor accumulate(const at::Tensor& self, at::Tensor& total) {
  total.add_(self);
  return at::scalar_tensor(self.numel(), total.options().dtype(at::kLong));
}

at::Tensor accumulate_meta(const at::Tensor& self, at::Tensor& total) {
  return at::empty({}, total.options().dtype(at::kLong));
}

std::vector<at::Tensor> reciprocals(at::TensorList tensors, double otherwise) {
  std::vector<at::Tensor> results;
  results.reserve(tensors.size());
  for (const at::Tensor& tensor : tensors) {
    results.push_back(at::where(tensor == 0, otherwise, at::reciprocal(tensor)));
  }
  return results;
}

at::Tensor evaluate(
    const at::Tensor& self,
    const std::optional<at::Tensor>& bias,
    int64_t degree,
    std::optional<at::ArrayRef<double>> weights,
    double shift,
    bool absolute,
    std::string_view mode,
    const std::optional<at::Scalar>& limit,
    at::IntArrayRef powers,
    std::optional<at::ScalarType> dtype,
    std::optional<at::MemoryFormat> memory_format) {
  TORCH_CHECK(mode == "plain" || mode == "inverse", "evaluate: unknown mode '", mode, "'");
  at::Tensor x = dtype.has_value() ? self.to(*dtype) : self;
  at::Tensor result = at::pow(x + shift, powers[0]) / at::pow(at::abs(x) + 1, powers[1]);
  for (int64_t power = 1; power < degree; ++power) {
    const double weight = weights.has_value() ? weights->at(power - 1) : 1.0;
    result = result + weight * at::pow(x, power + 1);
  }
  if (bias.has_value()) {
    result = result + *bias;
  }
  if (absolute) {
    result = at::abs(result);
  }
  if (limit.has_value()) {
    result = at::clamp_max(result, *limit);
  }
  if (mode == "inverse") {
    result = at::reciprocal(result);
  }
  return memory_format.has_value() ? result.contiguous(*memory_format) : result;
}

at::Tensor repeat_rows_symint(const at::Tensor& self, c10::SymIntArrayRef rows) {
  auto sizes = self.sym_sizes().vec();
  sizes.insert(sizes.begin(), rows[0]);
  return self.unsqueeze(0).expand_symint(sizes).clone(at::MemoryFormat::Contiguous);
}

at::Tensor jitter(const at::Tensor& self, double amount, std::optional<at::Generator> generator) {
  return self + at::rand(self.sizes(), generator, self.options()).mul_(2 * amount).sub_(amount);
}

at::Tensor jitter_meta(const at::Tensor& self, double amount, std::optional<at::Generator> generator) {
  return at::empty_like(self);
}

at::Tensor unit_fractions_symint(
    c10::SymInt n,
    std::optional<at::ScalarType> dtype,
    std::optional<at::Layout> layout,
    std::optional<at::Device> device,
    std::optional<bool> pin_memory) {
  TORCH_CHECK(n >= 0, "unit_fractions: the number of fractions can't be negative, but is ", n);
  const auto type = dtype.value_or(at::typeMetaToScalarType(at::get_default_dtype()));
  return at::reciprocal(at::arange(1, n + 1, type, layout, device, pin_memory));
}

at::Tensor running_mean(const at::Tensor& self) {
  const auto count = at::arange(1, self.size(-1) + 1, self.options());
  return at::cumsum(self, -1).div_(count);
}

at::Tensor running_mean_meta(const at::Tensor& self) {
  return at::empty_symint(self.sym_sizes(), self.options());
}

std::tuple<at::Tensor, std::optional<int64_t>> running_mean_batch_rule(
    const at::Tensor& self, std::optional<int64_t> self_bdim) {
  return {rational::running_mean(self.movedim(*self_bdim, 0)), 0};
}

} // namespace rational::native
