// $generated_comment
#pragma once
// The forms of a structured operator: what happens when its shape function tells of an output.
#include <ATen/TensorMeta.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/DeviceGuard.h>
#include <torch/version.h>
#include <array>
#include <functional>
#include <optional>
#include <type_traits>

// Outputs had names before torch 2.13.
#if __has_include(<ATen/core/Dimname.h>)
#include <ATen/core/Dimname.h>
#define ${prefix}_WITH_NAMES 1
#else
#define ${prefix}_WITH_NAMES 0
#endif

namespace $namespace::detail {

// For kinds of device of which there is one.
struct NoGuard {
  void enter(c10::Device) {}
};

// Makes the device of the first output the current one, until the operator has run.
struct OneDeviceGuard {
  void enter(c10::Device device) {
    const auto current = guard_.current_device();
    if (C10_UNLIKELY(current.has_value())) {
      TORCH_CHECK(*current == device, "the outputs of one operator are on ", *current, " and on ", device);
    } else {
      guard_.reset_device(device);
    }
  }

 private:
  c10::OptionalDeviceGuard guard_;
};

// Leads the ways in which a shape function tells of an output to `Form::provide` and `Form::provide_symbolic`.
// Parent is the kernel's class; if it Delegates, it wants to know of outputs too.
template <class Parent, class Form, bool Delegates>
struct Outputs : public Parent {
  using Parent::set_output_raw_strided;
  using Parent::set_output_strided;

#if ${prefix}_WITH_NAMES
#define ${prefix}_NAMES , at::DimnameList
#define ${prefix}_NO_NAMES , at::DimnameList()
#else
#define ${prefix}_NAMES
#define ${prefix}_NO_NAMES
#endif
  void set_output_strided(
      int64_t at, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options ${prefix}_NAMES) override {
    tell(at, sizes, strides, options, /*keeps_strides=*/true);
  }

  void set_output_raw_strided(
      int64_t at, at::IntArrayRef sizes, at::IntArrayRef strides, at::TensorOptions options ${prefix}_NAMES) override {
    tell(at, sizes, strides, options, /*keeps_strides=*/false);
  }
  // Overrides that of $namespace::MetaBase.
  void set_output_symint(int64_t at, c10::SymIntArrayRef sizes, at::TensorOptions options) {
    if (const auto known = c10::asIntArrayRefSlowOpt(sizes)) {
      tell(at, *known, {}, options, /*keeps_strides=*/false);
    } else {
      static_cast<Form*>(this)->provide_symbolic(at, sizes, options);
    }
  }

 private:
  void tell(
      int64_t at, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options, bool keeps_strides) {
    static_cast<Form*>(this)->provide(at, sizes, strides, options, keeps_strides);
    if constexpr (Delegates) {
      // Last, since the author's class may ask for the output that has just been provided.
      Parent::set_output_raw_strided(at, sizes, strides, options ${prefix}_NO_NAMES);
    }
  }
};

#undef ${prefix}_NAMES
#undef ${prefix}_NO_NAMES

template <class Memory>
at::Tensor allocate(at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
  return strides.empty() ? Memory::empty(sizes, options) : Memory::empty_strided(sizes, strides, options);
}

// Allocates the results.
template <class Parent, class Memory, size_t N, bool Delegates = false>
struct Functional final : public Outputs<Parent, Functional<Parent, Memory, N, Delegates>, Delegates> {
  void provide(int64_t at, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options, bool) {
    guard_.enter(options.device());
    outputs_[at] = allocate<Memory>(sizes, strides, options);
  }
  void provide_symbolic(int64_t at, c10::SymIntArrayRef sizes, const at::TensorOptions& options) {
    outputs_[at] = Memory::empty_symint(sizes, options);
  }
  const at::Tensor& maybe_get_output(int64_t at) override {
    return outputs_[at];
  }

  std::array<at::Tensor, N> outputs_;
  typename Memory::Guard guard_;
};

// Tensors that the caller gives, and what stands in for one that is strided otherwise than the kernel needs.
template <size_t N>
struct Given {
  const at::Tensor& get(int64_t at) const {
    return proxies_[at].has_value() ? *proxies_[at] : outputs_[at].get();
  }
  template <class Memory>
  void match_strides(int64_t at, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
    if (!strides.empty() && outputs_[at].get().strides() != strides) {
      proxies_[at] = Memory::empty_strided(sizes, strides, options);
    }
  }
  void copy_back() const {
    for (size_t at = 0; at < N; ++at) {
      if (proxies_[at].has_value()) {
        outputs_[at].get().copy_(*proxies_[at]);
      }
    }
  }

  std::array<std::reference_wrapper<at::Tensor>, N> outputs_;
  std::array<std::optional<at::Tensor>, N> proxies_;
};

inline void check_options(const char* what, const at::Tensor& given, const at::TensorOptions& options) {
  TORCH_CHECK(
      options.dtype() == given.dtype(),
      "Expected ", what, " tensor to have dtype ", options.dtype(), ", but got ", given.dtype(), " instead");
  TORCH_CHECK(
      options.device() == given.device(),
      "Expected ", what, " tensor to have device ", options.device(), ", but got ", given.device(), " instead");
}

inline void resize_out(
    const at::Tensor& out, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options) {
  check_options("out", out, options);
  if (!at::native::resize_output(out, sizes)) {
    return; // memory that was large enough keeps the strides that its owner gave it
  }
  if (!strides.empty()) {
    out.as_strided_(sizes, strides);
  } else if (options.memory_format_opt().has_value()) {
    out.unsafeGetTensorImpl()->empty_tensor_restride(*options.memory_format_opt());
  }
}

inline void resize_out_symint(const at::Tensor& out, c10::SymIntArrayRef sizes, const at::TensorOptions& options) {
  check_options("out", out, options);
  at::native::resize_output_symint(out, sizes);
}

template <class Sizes>
void check_inplace(const at::Tensor& self, Sizes self_sizes, Sizes sizes, const at::TensorOptions& options) {
  check_options("in-place", self, options);
  TORCH_CHECK(
      self_sizes.equals(sizes),
      "The result of this in-place operator has size ", sizes, ", but the tensor that it is to change has size ",
      self_sizes);
}

// Makes the out arguments as large as the results.
template <class Parent, class Memory, size_t N, bool Delegates = false>
struct Out final : public Outputs<Parent, Out<Parent, Memory, N, Delegates>, Delegates> {
  template <class... Tensors>
  explicit Out(Tensors&... outs) : given_{{std::ref(outs)...}, {}} {}

  void provide(
      int64_t at, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options, bool keeps_strides) {
    guard_.enter(options.device());
    resize_out(given_.outputs_[at], sizes, strides, options);
    if (keeps_strides) {
      given_.template match_strides<Memory>(at, sizes, strides, options);
    }
  }
  void provide_symbolic(int64_t at, c10::SymIntArrayRef sizes, const at::TensorOptions& options) {
    resize_out_symint(given_.outputs_[at], sizes, options);
  }
  const at::Tensor& maybe_get_output(int64_t at) override {
    return given_.get(at);
  }

  Given<N> given_;
  typename Memory::Guard guard_;
};

// Sees that the tensor to be changed is what the results are.
template <class Parent, class Memory, size_t N, bool Delegates = false>
struct Inplace final : public Outputs<Parent, Inplace<Parent, Memory, N, Delegates>, Delegates> {
  template <class... Tensors>
  explicit Inplace(Tensors&... changed) : given_{{std::ref(changed)...}, {}} {}

  void provide(
      int64_t at, at::IntArrayRef sizes, at::IntArrayRef strides, const at::TensorOptions& options, bool keeps_strides) {
    guard_.enter(options.device());
    const at::Tensor& self = given_.outputs_[at];
    check_inplace(self, self.sizes(), sizes, options);
    if (keeps_strides) {
      given_.template match_strides<Memory>(at, sizes, strides, options);
    }
  }
  void provide_symbolic(int64_t at, c10::SymIntArrayRef sizes, const at::TensorOptions& options) {
    const at::Tensor& self = given_.outputs_[at];
    check_inplace(self, self.sym_sizes(), sizes, options);
  }
  const at::Tensor& maybe_get_output(int64_t at) override {
    return given_.get(at);
  }

  Given<N> given_;
  typename Memory::Guard guard_;
};

} // namespace $namespace::detail
