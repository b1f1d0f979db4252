// What the formulas of ops/autograd/derivatives.yaml call.
#include <rational/derivatives.h>

#define AT_PER_OPERATOR_HEADERS // each operator has its header
#include <ATen/TensorOperators.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>

namespace rational {

namespace {

// How much the harmonic mean changes with each element: result² / (count · self²).
at::Tensor slope(const at::Tensor& self, const at::Tensor& result, int64_t dim, bool keepdim) {
  const at::Tensor mean = keepdim ? result : result.unsqueeze(dim);
  return (mean / self).square() / at::ones_like(self).sum(dim, /*keepdim=*/true);
}

} // namespace

at::Tensor harmonic_mean_backward(
    const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result, int64_t dim, bool keepdim) {
  return (keepdim ? grad : grad.unsqueeze(dim)) * slope(self, result, dim, keepdim);
}

at::Tensor harmonic_mean_tangent(
    const at::Tensor& tangent, const at::Tensor& self, const at::Tensor& result, int64_t dim, bool keepdim) {
  return (tangent * slope(self, result, dim, keepdim)).sum(dim, keepdim);
}

at::Tensor saturate_slope(const at::Tensor& result, double limit) {
  return (1 - result.abs() / limit).square();
}

std::vector<at::Tensor> reciprocals_backward(at::TensorList grads, at::TensorList tensors) {
  std::vector<at::Tensor> results;
  results.reserve(grads.size());
  for (size_t at = 0; at < grads.size(); ++at) {
    const at::Tensor& x = tensors[at];
    results.push_back(grads[at].defined() ? at::where(x == 0, 0, -grads[at] / x.square()) : at::Tensor());
  }
  return results;
}

std::tuple<at::Tensor, at::Tensor> evaluate_backward(
    const at::Tensor& grad,
    const at::Tensor& self,
    int64_t degree,
    at::OptionalArrayRef<double> weights,
    double shift,
    bool absolute,
    std::string_view mode,
    const std::optional<at::Scalar>& limit,
    at::IntArrayRef powers,
    std::array<bool, 2> wanted) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      mode == "plain" && !absolute && !limit.has_value(), "evaluate has gradients in plain mode and without bounds only");
  if (!grad.defined()) {
    return {};
  }
  at::Tensor slope;
  if (wanted[0]) {
    const at::Tensor above = self + shift, below = self.abs() + 1;
    const auto first = static_cast<double>(powers[0]), second = static_cast<double>(powers[1]);
    slope = first * above.pow(first - 1) / below.pow(second) -
        second * self.sgn() * above.pow(first) / below.pow(second + 1);
    for (int64_t power = 1; power < degree; ++power) {
      const double weight = weights.has_value() ? weights->at(power - 1) : 1.0;
      slope = slope + weight * (power + 1) * self.pow(power);
    }
    slope = slope * grad;
  }
  return {slope, wanted[1] ? grad : at::Tensor()};
}

at::Tensor running_mean_backward(const at::Tensor& grad) {
  const auto count = at::ones_like(grad).cumsum(-1);
  return (grad / count).flip(-1).cumsum(-1).flip(-1);
}

} // namespace rational
