// The kernels for autograd: they say how gradients go back, and call the device below autograd.
#include <PrivateUse1NativeFunctions.h>

#include <ATen/TensorOperators.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/ops/add.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/sigmoid.h>
#include <torch/csrc/autograd/custom_function.h>

namespace lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct Linear : public torch::autograd::Function<Linear> {
  static at::Tensor forward(
      AutogradContext* context, const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({input, weight});
    context->saved_data["has_bias"] = bias.defined();
    const at::Tensor product = at::matmul(input, weight.t());
    return bias.defined() ? at::add(product, bias) : product;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor flat = gradients[0].reshape({-1, gradients[0].size(-1)});
    const at::Tensor input = saved[0].reshape({-1, saved[0].size(-1)});
    const bool has_bias = context->saved_data["has_bias"].toBool();
    return {
        at::matmul(gradients[0], saved[1]),
        at::matmul(flat.t(), input),
        has_bias ? flat.sum(0) : at::Tensor()};
  }
};

struct Silu : public torch::autograd::Function<Silu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& self) {
    at::AutoDispatchBelowADInplaceOrView below;
    context->save_for_backward({self});
    return at::mul(self, at::sigmoid(self));
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor self = context->get_saved_variables()[0];
    const at::Tensor gate = at::sigmoid(self);
    return {gradients[0] * gate * (1 + self * (1 - gate))};
  }
};

} // namespace

at::Tensor Kernels::linear(
    const at::Tensor& input, const at::Tensor& weight, const std::optional<at::Tensor>& bias) {
  return Linear::apply(input, weight, bias.value_or(at::Tensor()));
}

at::Tensor Kernels::silu(const at::Tensor& self) {
  return Silu::apply(self);
}

} // namespace lab
