// $generated_comment
#pragma once
// What makes views known to autograd.
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/AutogradState.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/VariableTypeUtils.h>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <vector>

namespace $namespace::detail {

// Calls `visit` with each Kind that an argument is, holds, or has a list of.
template <class Kind, class T, class Visit>
void each(T& argument, const Visit& visit) {
  if constexpr (std::is_same_v<std::remove_const_t<T>, Kind>) {
    visit(argument);
  } else if constexpr (requires { argument.has_value(); }) {
    if (argument.has_value()) {
      each<Kind>(*argument, visit);
    }
  } else if constexpr (requires { argument.begin(); }) {
    for (auto&& element : argument) {
      each<Kind>(element, visit);
    }
  }
}

// Takes a view again, of another base.  Its symbolic integers and its tensors can be exchanged for others.
template <class Take, class... Arguments>
struct Replay final : public torch::autograd::ViewFunc {
  Replay(Take take, Arguments... arguments) : take_(std::move(take)), arguments_(std::move(arguments)...) {}

  at::Tensor operator()(const at::Tensor& base) const override {
    return std::apply([&](const auto&... arguments) { return take_(base, arguments...); }, arguments_);
  }
  std::vector<c10::SymInt> get_symints() const override {
    return get<c10::SymInt>();
  }
  size_t num_symints() const override {
    return get_symints().size();
  }
  std::vector<at::Tensor> get_tensors() const override {
    return get<at::Tensor>();
  }
  size_t num_tensors() const override {
    return get_tensors().size();
  }
  std::unique_ptr<torch::autograd::ViewFunc> clone_and_set(
      std::optional<std::vector<c10::SymInt>> symints, std::optional<std::vector<at::Tensor>> tensors) const override {
    auto copy = std::make_unique<Replay>(*this);
    if (symints.has_value()) {
      copy->set(*symints);
    }
    if (tensors.has_value()) {
      copy->set(*tensors);
    }
    return copy;
  }

 private:
  template <class Kind>
  std::vector<Kind> get() const {
    std::vector<Kind> found;
    const auto add = [&](const Kind& one) { found.push_back(one); };
    std::apply([&](const auto&... arguments) { (each<Kind>(arguments, add), ...); }, arguments_);
    return found;
  }
  template <class Kind>
  void set(const std::vector<Kind>& values) {
    TORCH_INTERNAL_ASSERT(values.size() == get<Kind>().size());
    size_t at = 0;
    const auto assign = [&](Kind& one) { one = values[at++]; };
    std::apply([&](auto&... arguments) { (each<Kind>(arguments, assign), ...); }, arguments_);
  }

  Take take_;
  std::tuple<Arguments...> arguments_;
};

inline torch::autograd::CreationMeta creation_meta(torch::autograd::CreationMeta otherwise) {
  using torch::autograd::CreationMeta;
  if (c10::InferenceMode::is_enabled()) {
    return CreationMeta::INFERENCE_MODE;
  }
  return at::GradMode::is_enabled() ? otherwise : CreationMeta::NO_GRAD_MODE;
}

// Whether a view is known by its sizes, strides and offset, which take it again faster than anything else.
inline bool is_known_by_strides(const at::Tensor& base, const at::Tensor& view) {
  const auto* impl = base.unsafeGetTensorImpl();
  return impl->support_as_strided() && !impl->is_python_dispatch() && base.dtype() == view.dtype() &&
      base.is_conj() == view.is_conj() && base.is_neg() == view.is_neg() &&
      !c10::AutogradState::get_tls_state().get_view_replay_enabled();
}

template <class Take, class... Arguments>
at::Tensor as_view_of(
    torch::autograd::CreationMeta creation, const at::Tensor& base, const at::Tensor& view, Take take, const Arguments&... arguments) {
  std::unique_ptr<torch::autograd::ViewFunc> replay;
  if (!is_known_by_strides(base, view)) {
    replay = std::make_unique<Replay<Take, Arguments...>>(std::move(take), arguments...);
  }
  return torch::autograd::as_view(
      base, view, /*is_bw_differentiable=*/true, /*is_fw_differentiable=*/true, std::move(replay),
      /*rev_view_func=*/nullptr, creation_meta(creation));
}

template <class Take, class... Arguments>
at::Tensor as_view(const at::Tensor& base, const at::Tensor& view, Take take, const Arguments&... arguments) {
  return as_view_of(torch::autograd::CreationMeta::DEFAULT, base, view, std::move(take), arguments...);
}

template <class Take, class... Arguments>
std::vector<at::Tensor> as_view(
    const at::Tensor& base, std::vector<at::Tensor> views, Take take, const Arguments&... arguments) {
  for (size_t at = 0; at < views.size(); ++at) {
    auto take_one = [take, at](const at::Tensor& other, const auto&... given) { return take(other, given...)[at]; };
    views[at] = as_view_of(
        torch::autograd::CreationMeta::MULTI_OUTPUT_NODE, base, views[at], std::move(take_one), arguments...);
  }
  return views;
}

// A view that no gradient and no tangent goes through.
inline at::Tensor as_constant_view(const at::Tensor& base, const at::Tensor& view) {
  return torch::autograd::as_view(base, view, /*is_bw_differentiable=*/false, /*is_fw_differentiable=*/false);
}

inline std::vector<at::Tensor> as_constant_view(const at::Tensor& base, std::vector<at::Tensor> views) {
  for (at::Tensor& view : views) {
    view = as_constant_view(base, view);
  }
  return views;
}

} // namespace $namespace::detail
