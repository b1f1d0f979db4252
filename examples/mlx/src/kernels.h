// The CPU kernels of the example: function templates over the type of the elements.
#pragma once

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "lab_ops/runtime.h"

namespace lab_ops {

// Pointwise kernels get elements; those of half precision come as float.

template <typename T>
T softcap_cpu(T x, float cap) {
  const T bound = static_cast<T>(cap);
  return bound * std::tanh(x / bound);
}

template <typename T>
T scaled_add_cpu(T a, T b, float scale) {
  return static_cast<T>(a + scale * b);
}

template <typename T>
T multiply_add_cpu(T x, T y, std::optional<T> z) {
  return z ? x * y + *z : x * y;
}

template <typename T>
std::pair<T, T> sincos_cpu(T x) {
  return {std::sin(x), std::cos(x)};
}

template <typename T>
bool exceeds_cpu(T x, double bound) {
  return static_cast<double>(x) > bound;
}

// Other kernels get views of whole arrays.

template <typename T>
void norm_cpu(View<const T> x, int axis, bool, View<T> out) {
  const size_t outer = x.outer(axis), length = x.length(axis), inner = x.inner(axis);
  for (size_t i = 0; i < outer; ++i) {
    for (size_t j = 0; j < inner; ++j) {
      double sum = 0;
      for (size_t k = 0; k < length; ++k) {
        const double each = static_cast<double>(x[(i * length + k) * inner + j]);
        sum += each * each;
      }
      out[i * inner + j] = static_cast<T>(std::sqrt(sum));
    }
  }
}

template <typename T>
void weighted_sum_cpu(const std::vector<View<const T>>& arrays, View<const T> weights, View<T> out) {
  for (size_t i = 0; i < out.size; ++i) {
    float sum = 0;
    for (size_t k = 0; k < arrays.size(); ++k) {
      sum += static_cast<float>(weights[k]) * static_cast<float>(arrays[k][i]);
    }
    out[i] = static_cast<T>(sum);
  }
}

template <typename T>
void pick_cpu(View<const T> x, View<const int32_t> index, View<T> out) {
  const size_t length = x.length(-1);
  for (size_t i = 0; i < out.size; ++i) {
    out[i] = x[i * length + index[i]];
  }
}

template <typename T>
void ramp_cpu(const mx::Shape&, mx::Dtype, double step, View<T> out) {
  for (size_t i = 0; i < out.size; ++i) {
    out[i] = static_cast<T>(static_cast<float>(i * step));
  }
}

// What formulas of the gradients use.

inline std::vector<mx::array> scale_each(const mx::array& grad, const mx::array& weights) {
  std::vector<mx::array> result;
  for (int k = 0; k < weights.shape(0); ++k) {
    result.push_back(grad * mx::take(weights, k, 0));
  }
  return result;
}

inline mx::array dot_each(const mx::array& grad, const std::vector<mx::array>& arrays) {
  std::vector<mx::array> result;
  for (const auto& each : arrays) {
    result.push_back(mx::sum(grad * each));
  }
  return mx::stack(result);
}

} // namespace lab_ops
