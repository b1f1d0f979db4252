// $generated_comment
#include <ATen/core/LegacyTypeDispatch.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <torch/library.h>
#include <memory>
#include <vector>
$for include in includes
#include <$include>
$endfor

namespace $namespace {
namespace {
namespace detail {

using namespace ::$namespace::detail;
using torch::autograd::CreationMeta;

// Counts one more version of what an operator wrote to.
[[maybe_unused]] void count(const at::Tensor& tensor) {
  torch::autograd::increment_version(tensor);
}

[[maybe_unused]] void count(const std::optional<at::Tensor>& tensor) {
  if (tensor.has_value()) {
    count(*tensor);
  }
}

[[maybe_unused]] void count(at::TensorList tensors) {
  for (const at::Tensor& tensor : tensors) {
    count(tensor);
  }
}

// Takes a view again, of another base.
template <class Take>
struct Replay final : public torch::autograd::ViewFunc {
  explicit Replay(Take take) : take_(std::move(take)) {}

  at::Tensor operator()(const at::Tensor& base) const override {
    return take_(base);
  }
  std::unique_ptr<torch::autograd::ViewFunc> clone_and_set(
      std::optional<std::vector<c10::SymInt>>, std::optional<std::vector<at::Tensor>>) const override {
    return std::make_unique<Replay>(take_);
  }

 private:
  Take take_;
};

inline CreationMeta creation_meta(CreationMeta otherwise) {
  if (c10::InferenceMode::is_enabled()) {
    return CreationMeta::INFERENCE_MODE;
  }
  return at::GradMode::is_enabled() ? otherwise : CreationMeta::NO_GRAD_MODE;
}

template <class Take>
at::Tensor as_view(const at::Tensor& base, at::Tensor view, Take take) {
  return torch::autograd::as_view(
      base, view, /*is_bw_differentiable=*/true, /*is_fw_differentiable=*/true,
      std::make_unique<Replay<Take>>(std::move(take)), /*rev_view_func=*/nullptr,
      creation_meta(CreationMeta::DEFAULT));
}

template <class Take>
std::vector<at::Tensor> as_views(const at::Tensor& base, std::vector<at::Tensor> views, Take take) {
  for (size_t at = 0; at < views.size(); ++at) {
    auto take_one = [take, at](const at::Tensor& other) { return take(other)[at]; };
    views[at] = torch::autograd::as_view(
        base, views[at], /*is_bw_differentiable=*/true, /*is_fw_differentiable=*/true,
        std::make_unique<Replay<decltype(take_one)>>(std::move(take_one)), /*rev_view_func=*/nullptr,
        creation_meta(CreationMeta::MULTI_OUTPUT_NODE));
  }
  return views;
}

} // namespace detail

$for kernel in kernels
${kernel.definition}
$endfor
} // namespace

TORCH_LIBRARY_IMPL($namespace, ADInplaceOrView, m) {
$for kernel in kernels
  m.impl(${kernel.operator}, TORCH_FN(${kernel.name}));
$endfor
}

} // namespace $namespace
