$# Makes RegisterFunctionalization_N.cpp: kernels that run operators without writes and without views.
$#   unique_ops_headers  includes, if every operator has headers of its own
$#   func_definitions    the kernels
$#   func_registrations  a statement for each that registers it
// ${generated_comment}
// Functionalization's kernels for a share of the operators.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <ATen/EmptyTensor.h>
#include <ATen/FunctionalTensorWrapper.h>
#include <ATen/ViewMetaClasses.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <c10/util/env.h>
#include <torch/library.h>

#ifdef AT_PER_OPERATOR_HEADERS
// What the kernels call beside their own operators.
#include <ATen/ops/expand_copy_ops.h>
#include <ATen/ops/to_ops.h>
$unique_ops_headers
#else
#include <ATen/NativeFunctions.h>
#include <ATen/Operators.h>
#endif

namespace at {
$if func_definitions
namespace functionalization {

// ---- What operators do to shapes and strides is found out with tensors that have nothing else ----

// Modes are kept out of it: to them, this computation never happens.
constexpr auto exclude_keys_for_meta_dispatch =
    c10::DispatchKeySet({
        c10::DispatchKey::Python,
        c10::DispatchKey::PreDispatch,
        c10::DispatchKey::FuncTorchDynamicLayerFrontMode,
        c10::DispatchKey::FuncTorchDynamicLayerBackMode,
    }) |
    c10::functorch_transforms_ks;

// Whether the user switched that off.
[[maybe_unused]] static bool disable_meta_reference() {
  static const bool is_off = c10::utils::get_env("TORCH_DISABLE_FUNCTIONALIZATION_META_REFERENCE") == "1";
  return is_off;
}

[[maybe_unused]] static Tensor to_meta(const Tensor& tensor) {
  if (!tensor.defined()) {
    return tensor;
  }
  return at::detail::empty_strided_symint_meta(
      tensor.sym_sizes(), tensor.sym_strides(), tensor.scalar_type(), tensor.layout(), c10::Device(kMeta));
}

[[maybe_unused]] static std::optional<Tensor> to_meta(const std::optional<Tensor>& tensor) {
  return tensor.has_value() ? std::make_optional(to_meta(*tensor)) : std::nullopt;
}

[[maybe_unused]] static std::vector<Tensor> to_meta(at::ITensorListRef tensors) {
  std::vector<Tensor> shapes;
  shapes.reserve(tensors.size());
  for (const Tensor& tensor : tensors) {
    shapes.push_back(to_meta(tensor));
  }
  return shapes;
}

template <typename T>
c10::List<T> to_meta(const c10::List<T>& tensors) {
  c10::List<T> shapes;
  shapes.reserve(tensors.size());
  for (std::size_t at = 0; at < tensors.size(); ++at) {
    shapes.push_back(to_meta(tensors.get(at)));
  }
  return shapes;
}

// ---- The kernels ----

$func_definitions

} // namespace functionalization

$endif
$if func_registrations
namespace {

TORCH_LIBRARY_IMPL(aten, Functionalize, m) {
  $func_registrations
}

} // namespace

$endif
} // namespace at
