// $generated_comment
// Forms of operators that follow from other forms.
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/clone.h>
#include <vector>
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::composite_kernels {
namespace {

[[maybe_unused]] at::Tensor copy_argument(const at::Tensor& argument) {
  return argument.clone();
}

[[maybe_unused]] std::vector<at::Tensor> copy_argument(at::TensorList argument) {
  std::vector<at::Tensor> copies;
  copies.reserve(argument.size());
  for (const at::Tensor& tensor : argument) {
    copies.push_back(tensor.clone());
  }
  return copies;
}

[[maybe_unused]] at::Tensor copy_view(const at::Tensor& view) {
  return view.clone(at::MemoryFormat::Contiguous);
}

[[maybe_unused]] std::vector<at::Tensor> copy_view(const std::vector<at::Tensor>& views) {
  std::vector<at::Tensor> copies;
  copies.reserve(views.size());
  for (const at::Tensor& view : views) {
    copies.push_back(copy_view(view));
  }
  return copies;
}

template <typename... Views>
std::tuple<Views...> copy_view(const std::tuple<Views...>& views) {
  return std::apply([](const auto&... view) { return std::tuple<Views...>(copy_view(view)...); }, views);
}

[[maybe_unused]] void write_out(const at::Tensor& out, const at::Tensor& result) {
  TORCH_CHECK(
      out.dtype() == result.dtype(),
      "Expected out tensor to have dtype ", result.dtype(), ", but got ", out.dtype(), " instead");
  TORCH_CHECK(
      out.device() == result.device(),
      "Expected out tensor to have device ", result.device(), ", but got ", out.device(), " instead");
  at::native::resize_output_symint(out, result.sym_sizes());
  out.copy_(result);
}

[[maybe_unused]] void write_out(at::TensorList outs, const std::vector<at::Tensor>& results) {
  TORCH_CHECK(outs.size() == results.size(), "Expected ", results.size(), " out tensors, but got ", outs.size());
  for (size_t at = 0; at < outs.size(); ++at) {
    write_out(outs[at], results[at]);
  }
}

} // namespace
} // namespace $namespace::detail::composite_kernels

$for definition in definitions
$definition

$endfor
