// `scaled_add` as an author writes it without a generator.
#pragma once

#include "mlx/mlx.h"
#include "mlx/primitives.h"

namespace by_hand {

namespace mx = mlx::core;

mx::array scaled_add(const mx::array& a, const mx::array& b, float scale = 1.0f, mx::StreamOrDevice s = {});

class ScaledAdd : public mx::Primitive {
 public:
  ScaledAdd(mx::Stream stream, float scale) : mx::Primitive(stream), scale_(scale) {}

  void eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) override;
  void eval_gpu(const std::vector<mx::array>&, std::vector<mx::array>&) override {
    throw std::runtime_error("scaled_add has no GPU kernel");
  }
  std::vector<mx::array> vjp(
      const std::vector<mx::array>& primals,
      const std::vector<mx::array>& cotangents,
      const std::vector<int>& argnums,
      const std::vector<mx::array>& outputs) override;
  std::vector<mx::array> jvp(
      const std::vector<mx::array>& primals,
      const std::vector<mx::array>& tangents,
      const std::vector<int>& argnums) override;
  std::pair<std::vector<mx::array>, std::vector<int>> vmap(
      const std::vector<mx::array>& inputs, const std::vector<int>& axes) override;
  const char* name() const override {
    return "ScaledAdd";
  }
  bool is_equivalent(const mx::Primitive& other) const override {
    return static_cast<const ScaledAdd&>(other).scale_ == scale_;
  }
  std::vector<mx::Shape> output_shapes(const std::vector<mx::array>& inputs) override {
    return {inputs[0].shape()};
  }

 private:
  float scale_;
};

} // namespace by_hand
