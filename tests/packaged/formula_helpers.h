// Stand-ins for functions of torch's FunctionsManual.h, which its library keeps to itself, where they are a line
// or two of mathematics. Formulas that call others are compiled, so that their arguments fit, and not run.
#include <torch/library.h>

#include <ATen/ATen.h>
#include <torch/csrc/autograd/FunctionsManual.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>

using namespace at;
using namespace torch::autograd;
using namespace torch::autograd::generated::details;

namespace torch::autograd::generated::details {
Tensor maybe_multiply(const Tensor& t, const Scalar& s) { return t * s; }
Tensor handle_r_to_c(ScalarType type, Tensor g) { return !isComplexType(type) && g.is_complex() ? at::real(g) : g; }
static std::vector<int64_t> wrapped(const Tensor& t, IntArrayRef dims, int64_t rank) {
  std::vector<int64_t> out;
  for (auto d : dims) out.push_back(d < 0 ? d + rank : d);
  if (out.empty()) for (int64_t d = 0; d < rank; ++d) out.push_back(d);
  std::sort(out.begin(), out.end());
  return out;
}
static Tensor unreduced(Tensor t, IntArrayRef dims, bool keepdim, int64_t rank) {
  if (!keepdim) for (auto d : wrapped(t, dims, rank)) t = t.unsqueeze(d);
  return t;
}
Tensor restore_reduced_dims(const Tensor& t, IntArrayRef dims, bool keepdim) {
  return keepdim ? t : unreduced(t, dims, false, t.dim() + int64_t(dims.size()));
}
Tensor scale_grad_by_count(const Tensor& g, const Tensor& mask, IntArrayRef dims) { return g * mask / mask.sum(dims, true); }
Tensor permute_backwards(const Tensor& g, IntArrayRef dims) {
  std::vector<int64_t> back(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) back[dims[i] < 0 ? dims[i] + dims.size() : dims[i]] = i;
  return g.permute(IntArrayRef(back));
}
Tensor masked_fill_backward(const Tensor& g, const Tensor& mask) { return (g * mask).sum(); }
Tensor gather_with_keepdimed_indices(const Tensor& t, int64_t dim, const Tensor& i, bool keepdim) {
  if (t.dim() == 0) return t;
  auto r = t.gather(dim, keepdim ? i : i.unsqueeze(dim));
  return keepdim ? r : r.squeeze(dim);
}
Tensor sum_backward(const Tensor& g, SymIntArrayRef sizes, OptionalIntArrayRef dims, bool keepdim) {
  return (sizes.empty() ? g : unreduced(g, dims.value_or(IntArrayRef{}), keepdim, sizes.size())).expand_symint(sizes);
}
Tensor mean_backward(const Tensor& g, SymIntArrayRef sizes, OptionalIntArrayRef dims, SymInt numel, bool keepdim) {
  auto full = sum_backward(g, sizes, dims, keepdim);
  return full / (full.sym_numel() / g.sym_numel());
}
Tensor unsqueeze_to(const Tensor& t, SymIntArrayRef sizes) { return t.reshape_symint(sizes); }
Tensor unsqueeze_to(const Tensor& t, int64_t, SymIntArrayRef sizes) { return t.reshape_symint(sizes); }
Tensor unsqueeze_to(const Tensor& t, IntArrayRef, SymIntArrayRef sizes) { return t.reshape_symint(sizes); }
Tensor constant_pad_nd_backward(const Tensor& g, SymIntArrayRef pad) {
  std::vector<SymInt> back;
  for (auto& p : pad) back.push_back(-p);
  return at::constant_pad_nd_symint(g, back, 0);
}
Tensor unbind_backward(const variable_list& grads, int64_t dim) { return at::stack(grads, dim); }
Tensor split_with_sizes_backward(const variable_list& grads, SymIntArrayRef, int64_t dim, SymIntArrayRef, const TensorOptions&) { return at::cat(grads, dim); }
Tensor split_backward(const variable_list& grads, const SymInt&, int64_t dim, SymIntArrayRef, const TensorOptions&) { return at::cat(grads, dim); }
Tensor cumsum_backward(const Tensor& g, int64_t dim) { return g.dim() == 0 ? g : g.flip(dim).cumsum(dim).flip(dim); }
Tensor slice_backward_wrapper(const Tensor& g, const SymIntArrayRef& sizes, int64_t dim, std::optional<SymInt> start, std::optional<SymInt> end, SymInt step) {
  return at::slice_backward_symint(g, sizes, dim, start.value_or(0), end.value_or(SymInt(INT64_MAX)), step);
}
Tensor take_backward(const Tensor& g, const Tensor& self, const Tensor& i) { return at::zeros_like(self).put_(i, g, true); }
Tensor index_backward(Tensor zeros, const torch::List<std::optional<Tensor>>& i, const Tensor& g) { return zeros.index_put(i, g, true); }
Tensor clamp_backward(const Tensor& g, const Tensor& x, const std::optional<Scalar>& lo, const std::optional<Scalar>& hi) {
  auto r = g;
  if (lo) r = r.masked_fill(x.lt(*lo), 0);
  if (hi) r = r.masked_fill(x.gt(*hi), 0);
  return r;
}
Tensor clamp_backward(const Tensor& g, const Tensor& x, const Tensor& lo, const Tensor& hi) {
  auto r = g;
  if (lo.defined()) r = r.masked_fill(x.lt(lo), 0);
  if (hi.defined()) r = r.masked_fill(x.gt(hi), 0);
  return r;
}
Tensor repeat_backward(Tensor g, SymIntArrayRef repeats, SymIntArrayRef sizes) {
  std::vector<SymInt> shape; std::vector<int64_t> dims;
  auto lead = repeats.size() - sizes.size();
  for (size_t i = 0; i < repeats.size(); ++i) { dims.push_back(shape.size()); shape.push_back(repeats[i]); shape.push_back(i < lead ? SymInt(1) : sizes[i - lead]); }
  return (repeats.empty() ? g : g.reshape_symint(shape).sum(dims)).reshape_symint(sizes);
}
Tensor evenly_distribute_backward(const Tensor& g, const Tensor& x, const Tensor& v) { auto m = x.eq(v); return m * (g / m.sum()); }
Tensor evenly_read_jvp(const Tensor& t, const Tensor& x, const Tensor& v) { auto m = x.eq(v); return (m * t).sum() / m.sum(); }

}  // namespace torch::autograd::generated::details

static at::OptionalSymIntArrayRef sizes_of(const std::optional<Tensor>& t) {
  return t.has_value() ? at::OptionalSymIntArrayRef(t->sym_sizes()) : at::OptionalSymIntArrayRef();
}

// Formulas are called with boxed arguments: each that isn't would bring templates of its own, which take longer to
// compile than all formulas.
using Boxed = void (*)(torch::jit::Stack&);
struct RunBoxed final : c10::OperatorKernel {
  explicit RunBoxed(Boxed function) : function(function) {}
  void operator()(const c10::OperatorHandle&, c10::DispatchKeySet, torch::jit::Stack* stack) { function(*stack); }
  Boxed function;
};
static torch::CppFunction boxed(Boxed function) {
  return torch::CppFunction::makeFromBoxedFunctor(std::make_unique<RunBoxed>(function));
}
template <class T>
static auto unboxed(c10::IValue& value) -> decltype(auto) {
  return c10::impl::ivalue_to_arg<std::decay_t<T>, false>::call(value);
}
