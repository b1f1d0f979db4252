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
