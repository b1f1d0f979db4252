// What the formulas of ops/autograd/derivatives.yaml call.  Generated code includes <rational/derivatives.h>.
#pragma once
#include <ATen/core/Tensor.h>
#include <c10/util/OptionalArrayRef.h>
#include <array>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

namespace rational {

at::Tensor harmonic_mean_backward(
    const at::Tensor& grad, const at::Tensor& self, const at::Tensor& result, int64_t dim, bool keepdim);

at::Tensor harmonic_mean_tangent(
    const at::Tensor& tangent, const at::Tensor& self, const at::Tensor& result, int64_t dim, bool keepdim);

// By how much the result of `saturate_` changes with what it is made of.
at::Tensor saturate_slope(const at::Tensor& result, double limit);

std::vector<at::Tensor> reciprocals_backward(at::TensorList grads, at::TensorList tensors);

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
    std::array<bool, 2> wanted);

at::Tensor running_mean_backward(const at::Tensor& grad);

} // namespace rational
