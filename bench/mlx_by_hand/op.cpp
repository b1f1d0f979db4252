#include "op.h"

#include "mlx/backend/cpu/encoder.h"

namespace by_hand {

mx::array scaled_add(const mx::array& a, const mx::array& b, float scale, mx::StreamOrDevice s) {
  auto stream = mx::to_stream(s);
  auto dtype = mx::promote_types(a.dtype(), b.dtype());
  if (!mx::issubdtype(dtype, mx::floating)) {
    dtype = mx::float32;
  }
  std::vector<mx::array> inputs = {mx::astype(a, dtype, stream), mx::astype(b, dtype, stream)};
  if (inputs[0].shape() != inputs[1].shape()) {
    inputs = mx::broadcast_arrays(inputs, stream);
  }
  for (auto& input : inputs) {
    input = mx::contiguous(input, false, stream);
  }
  auto shape = inputs[0].shape();
  return mx::array(shape, dtype, std::make_shared<ScaledAdd>(stream, scale), std::move(inputs));
}

template <typename T>
static void compute(const mx::array& a, const mx::array& b, mx::array& out, float scale, mx::Stream stream) {
  out.set_data(mx::allocator::malloc(out.nbytes()));
  auto& encoder = mx::cpu::get_command_encoder(stream);
  encoder.set_input_array(a);
  encoder.set_input_array(b);
  encoder.set_output_array(out);
  encoder.dispatch([pa = a.data<T>(), pb = b.data<T>(), po = out.data<T>(), size = out.size(), scale]() {
    for (size_t i = 0; i < size; ++i) {
      po[i] = static_cast<T>(pa[i] + static_cast<T>(scale) * pb[i]);
    }
  });
}

void ScaledAdd::eval_cpu(const std::vector<mx::array>& inputs, std::vector<mx::array>& outputs) {
  switch (outputs[0].dtype().val()) {
    case mx::Dtype::Val::float32:
      return compute<float>(inputs[0], inputs[1], outputs[0], scale_, stream());
    case mx::Dtype::Val::float64:
      return compute<double>(inputs[0], inputs[1], outputs[0], scale_, stream());
    case mx::Dtype::Val::float16:
      return compute<mx::float16_t>(inputs[0], inputs[1], outputs[0], scale_, stream());
    case mx::Dtype::Val::bfloat16:
      return compute<mx::bfloat16_t>(inputs[0], inputs[1], outputs[0], scale_, stream());
    default:
      throw std::runtime_error("scaled_add has no kernel for this dtype");
  }
}

std::vector<mx::array> ScaledAdd::vjp(
    const std::vector<mx::array>&,
    const std::vector<mx::array>& cotangents,
    const std::vector<int>& argnums,
    const std::vector<mx::array>&) {
  std::vector<mx::array> gradients;
  for (auto argnum : argnums) {
    gradients.push_back(
        argnum == 0 ? cotangents[0]
                    : mx::multiply(cotangents[0], mx::array(scale_, cotangents[0].dtype()), stream()));
  }
  return gradients;
}

std::vector<mx::array> ScaledAdd::jvp(
    const std::vector<mx::array>& primals, const std::vector<mx::array>& tangents, const std::vector<int>& argnums) {
  auto sum = mx::zeros_like(primals[0], stream());
  for (size_t i = 0; i < argnums.size(); ++i) {
    sum = scaled_add(sum, tangents[i], argnums[i] == 0 ? 1.0f : scale_, stream());
  }
  return {sum};
}

std::pair<std::vector<mx::array>, std::vector<int>> ScaledAdd::vmap(
    const std::vector<mx::array>& inputs, const std::vector<int>& axes) {
  auto moved = inputs;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] > 0) {
      moved[i] = mx::moveaxis(inputs[i], axes[i], 0, stream());
    }
  }
  return {{scaled_add(moved[0], moved[1], scale_, stream())}, {0}};
}

} // namespace by_hand
