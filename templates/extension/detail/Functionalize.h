// $generated_comment
#pragma once
// What the kernels of functionalization are made with.
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/core/IListRef.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/List.h>
#include <ATen/ops/as_strided_scatter.h>
#include <algorithm>
#include <memory>
#include <vector>

#include <$namespace/detail/Views.h>

namespace $namespace::detail {

template <class T>
bool is_wrapped(const T& argument) {
  return at::functionalization::impl::isFunctionalTensor(argument);
}

inline bool is_wrapped(const std::optional<at::TensorList>& argument) {
  return argument.has_value() && is_wrapped(at::ITensorListRef(*argument));
}

inline bool is_wrapped(const c10::List<c10::List<at::Tensor>>& argument) {
  for (const c10::List<at::Tensor>& tensors : argument.vec()) {
    for (const at::Tensor& tensor : tensors.vec()) {
      if (is_wrapped(tensor)) {
        return true;
      }
    }
  }
  return false;
}

// Values that are not wrapped can't take what was computed of values that are.
template <class... Arguments>
void check_unwrapped(const char* name, const Arguments&... read) {
  TORCH_CHECK(
      !(is_wrapped(read) || ... || false),
      name, ": a tensor that is not wrapped by functionalization would be changed by one that is; "
      "wrap all inputs of what is functionalized");
}

inline at::Tensor unwrap(const at::Tensor& argument) {
  if (!is_wrapped(argument)) {
    return argument;
  }
  at::functionalization::impl::sync(argument);
  return at::functionalization::impl::from_functional_tensor(argument);
}

inline std::optional<at::Tensor> unwrap(const std::optional<at::Tensor>& argument) {
  return argument.has_value() ? std::make_optional(unwrap(*argument)) : std::nullopt;
}

inline std::vector<at::Tensor> unwrap(at::ITensorListRef argument) {
  std::vector<at::Tensor> values;
  values.reserve(argument.size());
  for (const at::Tensor& tensor : argument) {
    values.push_back(unwrap(tensor));
  }
  return values;
}

inline std::vector<at::Tensor> unwrap(at::TensorList argument) {
  return unwrap(at::ITensorListRef(argument));
}

inline std::optional<std::vector<at::Tensor>> unwrap(const std::optional<at::TensorList>& argument) {
  return argument.has_value() ? std::make_optional(unwrap(*argument)) : std::nullopt;
}

inline c10::List<std::optional<at::Tensor>> unwrap(const c10::List<std::optional<at::Tensor>>& argument) {
  c10::List<std::optional<at::Tensor>> values;
  values.reserve(argument.size());
  for (const std::optional<at::Tensor>& tensor : argument.vec()) {
    values.push_back(unwrap(tensor));
  }
  return values;
}

inline c10::List<c10::List<at::Tensor>> unwrap(const c10::List<c10::List<at::Tensor>>& argument) {
  c10::List<c10::List<at::Tensor>> values;
  values.reserve(argument.size());
  for (const c10::List<at::Tensor>& tensors : argument.vec()) {
    values.push_back(c10::List<at::Tensor>(at::TensorList(unwrap(at::TensorList(tensors.vec())))));
  }
  return values;
}

inline at::Tensor wrap(const at::Tensor& value) {
  return at::functionalization::impl::to_functional_tensor(value);
}

inline std::vector<at::Tensor> wrap(const std::vector<at::Tensor>& values) {
  return at::functionalization::impl::to_functional_tensor(at::ITensorListRef(at::TensorList(values)));
}

// Values that are no tensors have no wrapper.
template <class T>
T wrap(const T& value) {
  return value;
}

// Gives a wrapper, or each of a list of them, a new value.
inline void replace(const at::Tensor& wrapper, const at::Tensor& value) {
  at::functionalization::impl::replace_(wrapper, value);
  at::functionalization::impl::commit_update(wrapper);
  at::functionalization::impl::sync(wrapper);
}

inline void replace(at::TensorList wrappers, at::TensorList values) {
  for (size_t at = 0; at < wrappers.size(); ++at) {
    replace(wrappers[at], values[at]);
  }
}

template <class T>
bool is_symbolic(const T&) {
  return false;
}
inline bool is_symbolic(const c10::SymInt& argument) {
  return argument.is_symbolic();
}
inline bool is_symbolic(c10::SymIntArrayRef argument) {
  return std::any_of(argument.begin(), argument.end(), [](const c10::SymInt& each) { return each.is_symbolic(); });
}
inline bool is_symbolic(const std::optional<c10::SymInt>& argument) {
  return argument.has_value() && argument->is_symbolic();
}
inline bool is_symbolic(const at::OptionalSymIntArrayRef& argument) {
  return argument.has_value() && is_symbolic(*argument);
}

inline std::vector<at::Tensor> as_list(at::Tensor view) {
  return {std::move(view)};
}
inline std::vector<at::Tensor> as_list(std::vector<at::Tensor> views) {
  return views;
}

// Knows how to take a view again when its base has changed, and how to put a changed view into its base.
template <class Take>
struct View final : public at::functionalization::ViewMeta {
  View(Take take, bool as_view, bool is_symbolic, bool is_multi_output, int64_t index)
      : ViewMeta(is_symbolic, is_multi_output, /*is_as_strided=*/false, index),
        take_(std::move(take)),
        as_view_(as_view) {}

  at::Tensor forward(const at::Tensor& base) override {
    return take_(base, as_view_)[out_index];
  }
  at::Tensor reverse(const at::Tensor& base, const at::Tensor& changed) override {
    const at::Tensor view = take_(base, /*as_view=*/true)[out_index];
    return at::as_strided_scatter_symint(
        base, changed, view.sym_sizes(), view.sym_strides(), view.sym_storage_offset());
  }
  std::shared_ptr<at::functionalization::ViewMeta> to_out_index(int64_t index) override {
    return std::make_shared<View>(take_, as_view_, has_symbolic_inputs, is_multi_output, index);
  }

 private:
  Take take_;
  bool as_view_;
};

template <class Take>
std::vector<at::Tensor> wrap_all(const at::Tensor& base, Take take, bool is_symbolic, bool is_multi_output) {
  const bool as_view = at::functionalization::impl::getFunctionalizationReapplyViewsTLS();
  std::vector<at::Tensor> views;
  {
    at::AutoDispatchSkipFunctionalize guard;
    views = take(at::functionalization::impl::from_functional_tensor(base), as_view);
  }
  const auto* wrapper = at::functionalization::impl::unsafeGetFunctionalWrapper(base);
  for (size_t at = 0; at < views.size(); ++at) {
    std::shared_ptr<at::functionalization::ViewMeta> meta = std::make_shared<View<Take>>(
        take, as_view, is_symbolic, is_multi_output, static_cast<int64_t>(at));
    views[at] = at::detail::make_tensor<at::FunctionalTensorWrapper>(views[at], wrapper, meta);
  }
  return views;
}

template <class Take>
at::Tensor wrap_view(const at::Tensor& base, Take take, bool is_symbolic) {
  return wrap_all(base, std::move(take), is_symbolic, /*is_multi_output=*/false)[0];
}

template <class Take>
std::vector<at::Tensor> wrap_views(const at::Tensor& base, Take take, bool is_symbolic) {
  return wrap_all(base, std::move(take), is_symbolic, /*is_multi_output=*/true);
}

} // namespace $namespace::detail
