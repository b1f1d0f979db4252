#include <ATen/ATen.h>
#include <authors/NativeFunctions.h>
namespace authors::native {
void fill_from(at::Tensor& dst, const at::Tensor& src) { dst.copy_(src); }
void fill_from_meta(at::Tensor& dst, const at::Tensor& src) {}
at::Tensor& scale_into(at::Tensor& dst, double by) { dst.mul_(by); return dst; }
at::Tensor& scale_into_meta(at::Tensor& dst, double by) { return dst; }
void bang(at::Tensor& x, const at::Tensor& y) { x.add_(y); }
void opt_into(const at::Tensor& x, const ::std::optional<at::Tensor>& dst) { if (dst) dst->add_(x); }
::std::string say(const at::Tensor& x, c10::string_view s) { return std::string(s) + " a long text that is surely on the heap"; }
at::Tensor remap(const at::Tensor& x, at::Tensor& u, ::std::optional<at::TensorList> e) { u.add_(1); at::Tensor r = x + u; if (e) for (auto& t : *e) r = r + t; return r; }
::std::tuple<at::Tensor,at::Tensor,int64_t> retboth(at::Tensor & dst, const ::std::optional<at::Tensor>& o, int64_t k) { dst.add_(1); if (o) o->add_(2); return {dst, dst * 2, k}; }
at::Tensor rms(const at::Tensor& x, at::Tensor& out) { out.copy_(x); return x * 2; }
::std::tuple<at::Tensor, at::Tensor> rms2(const at::Tensor& x, at::Tensor& out) { out.copy_(x); return {x * 2, x * 3}; }
at::Tensor c(const at::Tensor& x, at::ScalarType d, at::Device e) { return x.to(d).to(e); }
at::Tensor g(const at::Tensor& x, c10::List<c10::List<int64_t>> sizes, c10::Dict<std::string, at::Tensor> named) {
  int64_t n = 0; for (const c10::List<int64_t>& l : sizes) for (int64_t i : l) n += i;
  return x * n + named.at("a"); }
c10::complex<double> tup(const at::Tensor& x, std::tuple<int64_t, at::Tensor> t, c10::complex<double> z) { return z * double(std::get<0>(t)); }
std::vector<std::optional<at::Tensor>> parts(const at::Tensor& x, bool b) { std::vector<std::optional<at::Tensor>> r; r.push_back(x * 2); r.push_back(std::nullopt); return r; }
std::optional<std::vector<at::Tensor>> ol(const at::Tensor& x, bool b) { if (!b) return std::nullopt; return std::vector<at::Tensor>({x * 2}); }
std::optional<std::vector<int64_t>> il(const at::Tensor& x, bool b) { if (!b) return std::nullopt; return std::vector<int64_t>({1, 2}); }
std::vector<std::string> strs(const at::Tensor& x, c10::List<std::string> s, std::array<bool, 3> m, at::ArrayRef<std::optional<int64_t>> q) { return s.vec(); }
c10::IValue anyarg(c10::IValue a) { return a; }
at::Tensor make(int64_t n, std::optional<at::Device> device) { return at::ones({n}, at::TensorOptions().device(device)); }
std::vector<at::Tensor> lists(at::TensorList x, at::Tensor& y) { for (auto& t : x) t.add_(1); y.add_(1); return {y * 2}; }
using Mixed = ::std::tuple<at::Tensor, at::Tensor, int64_t>;
Mixed mix(const at::Tensor& self, at::TensorList more, const ::std::optional<at::Tensor>& bias, int64_t times, double shift, bool negate, c10::string_view mode, ::std::optional<double> limit, at::IntArrayRef powers, const at::Scalar& by, ::std::optional<at::ScalarType> dtype) {
  at::Tensor r = self * times + shift;
  for (auto& t : more) r = r + t;
  if (bias) r = r + *bias;
  if (negate) r = -r;
  if (mode == "square") r = r * r;
  if (limit) r = r.clamp_max(*limit);
  for (auto p : powers) r = r + self.pow(p);
  r = (r * by).to(dtype.value_or(self.scalar_type()));
  return {r, r.max(), int64_t(more.size())};
}
Mixed mix_meta(const at::Tensor& self, at::TensorList more, const ::std::optional<at::Tensor>&, int64_t, double, bool, c10::string_view, ::std::optional<double>, at::IntArrayRef, const at::Scalar&, ::std::optional<at::ScalarType> dtype) {
  auto options = self.options().dtype(dtype.value_or(self.scalar_type()));
  return {at::empty(self.sizes(), options), at::empty({}, options), int64_t(more.size())};
}
at::Tensor scaled(const at::Tensor& self, const at::Scalar& by) { return self * by; }
at::Tensor& scaled_out(const at::Tensor& self, const at::Scalar& by, at::Tensor& out) { return out.copy_(self * by); }
at::Tensor scaled_by_tensor(const at::Tensor& self, const at::Tensor& by) { return self * by; }
}

#include <authors/derivatives.h>
#include <torch/custom_class.h>
#include <torch/library.h>
namespace authors {
namespace {
struct Counter : torch::CustomClassHolder {
  explicit Counter(int64_t start) : count(start) {}
  int64_t count;
};
const auto registered = torch::class_<Counter>("authors", "Counter")
                            .def(torch::init<int64_t>())
                            .def("count", [](const c10::intrusive_ptr<Counter>& self) { return self->count; });
} // namespace

at::Tensor weighted_sum(at::TensorList grads) {
  at::Tensor sum = grads[0];
  for (size_t i = 1; i < grads.size(); ++i) {
    sum = sum + grads[i] * static_cast<int64_t>(i + 1);
  }
  return sum;
}
std::vector<at::Tensor> scaled_all(at::TensorList grads, const at::Tensor& by) {
  std::vector<at::Tensor> scaled;
  for (const at::Tensor& grad : grads) {
    scaled.push_back(grad * by);
  }
  return scaled;
}
at::Tensor dots(at::TensorList grads, at::TensorList xs) {
  at::Tensor sum = grads[0] * xs[0];
  for (size_t i = 1; i < grads.size(); ++i) {
    sum = sum + grads[i] * xs[i];
  }
  return sum;
}
} // namespace authors

namespace authors::native {
void stamp(at::Tensor& target, const at::Tensor& mask, int64_t n) { target.add_(mask, n); }
at::Tensor& grow(at::Tensor& buf, const at::Tensor& extra, bool twice) { return buf.add_(extra, twice ? 2 : 1); }
void mark(at::Tensor& p, at::Tensor& q, at::Tensor& r) { p.add_(1); q.add_(2); r.add_(3); }
at::Tensor maybe(const std::optional<at::Tensor>& acc, const at::Tensor& x, const std::optional<at::Tensor>& mean) {
  if (acc) { acc->add_(x); }
  if (mean) { mean->add_(1); }
  return x * 2;
}
at::Tensor caches(const at::Tensor& x, at::TensorList keys, c10::List<std::optional<at::Tensor>> values) {
  for (const at::Tensor& key : keys) { key.add_(x); }
  for (size_t i = 0; i < values.size(); ++i) { if (auto value = values.get(i)) { value->add_(1); } }
  return x * 3;
}
int64_t count(const at::Tensor& x, at::Tensor& total) { total.add_(x); return 7; }
std::tuple<std::string, at::Tensor> describe(const at::Tensor& x, std::optional<c10::string_view> prefix) {
  return {std::string(prefix.value_or("none")) + " of a tensor, in a text that is too long to be within its object", x + 1};
}
at::Tensor lookup(std::optional<at::TensorList> tables, int64_t i) {
  return tables ? tables->at(i) * 2 : at::zeros({1});
}
at::Tensor only(const at::Tensor& out) { return out * 5; }
std::string dflt(const at::Tensor& x, at::Layout l, at::MemoryFormat m, at::Device d, std::optional<at::ScalarType> t, c10::string_view s, at::ArrayRef<double> f, std::array<bool, 2> b, at::IntArrayRef q, c10::complex<double> z, const at::Scalar& k) {
  std::ostringstream text;
  text << l << m << d << *t << s << f << b[0] << b[1] << q << z.imag() << k;
  return text.str();
}
c10::Dict<std::string, std::tuple<int64_t, at::Tensor>> nest(const at::Tensor& x, c10::Dict<std::string, c10::List<at::Tensor>> d, c10::List<std::tuple<int64_t, std::tuple<std::string, std::optional<at::Tensor>>>> t, c10::Dict<int64_t, c10::Dict<std::string, double>> dd) {
  c10::Dict<std::string, std::tuple<int64_t, at::Tensor>> result;
  for (const auto& item : d) {
    result.insert(item.key(), std::make_tuple(static_cast<int64_t>(item.value().size()), x * dd.at(1).at("half")));
  }
  for (size_t i = 0; i < t.size(); ++i) {
    const std::tuple<int64_t, std::tuple<std::string, std::optional<at::Tensor>>> each = t.get(i);
    const auto& [name, tensor] = std::get<1>(each);
    result.insert(name, std::make_tuple(std::get<0>(each), tensor.value_or(x)));
  }
  return result;
}
std::tuple<std::vector<std::optional<at::Tensor>>, std::optional<std::vector<int64_t>>, std::optional<std::vector<at::Tensor>>> maybes(const at::Tensor& x) {
  return {{x * 2, std::nullopt}, std::nullopt, std::vector<at::Tensor>{x * 3}};
}
at::Tensor later(const at::Tensor& x, int64_t a, at::IntArrayRef b, const at::Tensor& c) { return x * a * b[0] + c; }
at::Tensor zeros_of(int64_t n, std::optional<at::Device> device) { return at::zeros({n}, at::TensorOptions().device(device)); }
c10::IValue bump(c10::IValue c, const at::Tensor& x) {
  c.toCustomClass<Counter>()->count += x.numel();
  return c;
}
at::Tensor second(const at::Tensor& x, at::Tensor& y, int64_t n) { return y.add_(x, n); }
at::Tensor later_one(at::Tensor& x, at::Tensor& y) {
  x.add_(1);
  return y.mul_(2);
}
std::tuple<at::Tensor, at::Tensor> beside(at::Tensor& x, const at::Tensor& y) {
  x.add_(y);
  return {x * 3, x};
}
std::tuple<at::Tensor, at::Tensor> crossed(at::Tensor& x, at::Tensor& y) {
  x.add_(1);
  y.mul_(2);
  return {y, x};
}
void crossed_rule(at::Tensor& x, std::optional<int64_t> x_bdim, at::Tensor& y, std::optional<int64_t> y_bdim) {
  crossed(x, y);
}
std::optional<at::Tensor> chosen(const at::Tensor& x, const c10::List<std::optional<at::Tensor>>& ys) {
  return x + ys.get(0).value_or(x);
}
std::tuple<at::Tensor, std::optional<int64_t>> chosen_rule(
    const at::Tensor& x, std::optional<int64_t> x_bdim, const c10::List<std::optional<at::Tensor>>& ys) {
  return {x * 10, x_bdim};
}
at::Tensor call_kernel(const at::Tensor& self, int64_t schema) { return self + schema; }
at::Tensor keywords(const at::Tensor& from, const at::Tensor& lambda, double factor, const at::Tensor& other) {
  return from + lambda * factor + other;
}
at::Tensor at_kernel(const at::Tensor& at, const at::Tensor& op) { return at + op; }
void std_kernel(at::Tensor& std, const at::Tensor& self) { std.add_(self); }
at::Tensor self_kernel(const at::Tensor& self) { return self * 2; }
at::Tensor naming_kernel(const at::Tensor& op, int64_t dispatchKeySet, const at::Tensor& result, const at::Tensor& grad_fn, int64_t args, const at::Tensor& grads, const at::Tensor& self_, const at::Tensor& x, int64_t x_, const at::Tensor& naming) {
  return op * dispatchKeySet + result * grad_fn + grads * args + self_ * x * x.dim() + naming * x_;
}
at::Tensor slope(const at::Tensor& grad, const at::Tensor& x) { return grad * x * 2; }
at::Tensor weighted(const at::Tensor& x, const std::optional<at::Tensor>& weight) { return weight ? x * *weight : x * 1; }
std::vector<at::Tensor> multiples(const at::Tensor& x, int64_t count) {
  std::vector<at::Tensor> results;
  for (int64_t i = 1; i <= count; ++i) { results.push_back(x * i); }
  return results;
}
std::vector<at::Tensor> products(at::TensorList xs, const at::Tensor& by) {
  std::vector<at::Tensor> results;
  for (const at::Tensor& x : xs) { results.push_back(x * by); }
  return results;
}
} // namespace authors::native
