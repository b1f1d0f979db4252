$# Plumbing of vmap: what calls batching rules (dest/vmap_plumbing.py).

$section header

#pragma once
#include <ATen/Operators.h>
#include <ATen/functorch/PlumbingHelper.h>

namespace at { namespace functorch {

$insert functions

}} // namespace at::functorch

$section plumbing
template <typename batch_rule_t, batch_rule_t batch_rule>
$head {
  c10::impl::ExcludeDispatchKeyGuard guard(DispatchKey::FuncTorchBatched);
  auto maybe_layer = maybeCurrentDynamicLayer();
  vmap_check_escaped(maybe_layer, "$kind");
  int64_t cur_level = maybe_layer->layerId();
  if ($not_batched) {
    return at::_ops::$name::call($arguments);
  }
$for tensor in tensors
  auto [${tensor}_value, ${tensor}_bdim] = unwrapTensorAtLevel($tensor, cur_level);
$endfor
$for tensor in optional_tensors
  std::optional<Tensor> ${tensor}_value;
  std::optional<int64_t> ${tensor}_bdim;
  if ($tensor) {
    std::tie(${tensor}_value, ${tensor}_bdim) = unwrapTensorAtLevel($tensor.value(), cur_level);
  }
$endfor
$for statement in statements
  $statement;
$endfor
}
