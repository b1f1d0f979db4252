$# Kernels of the dispatch key Functionalize (dest/functionalization_kernels.py).

$section unwrapped
$# Takes each tensor `x` out of its wrapper, as `x_`.
$for tensor in tensors
${tensor.owned} ${tensor.name}_;
if (${tensor.is_functional}) {
$if sync
  at::functionalization::impl::sync(${tensor.name});
$endif
  ${tensor.name}_ = at::functionalization::impl::from_functional_tensor(${tensor.name});
} else {
  ${tensor.name}_ = ${tensor.copied};
}
$endfor

$section call_on_meta
$for tensor in tensors
    auto ${tensor.name}_meta = to_meta(${tensor.name});
$endfor
    at::AutoDispatchSkipFunctionalize func_guard;
    c10::impl::ExcludeDispatchKeyGuard guard(exclude_keys_for_meta_dispatch);
    $statement;

$section mutation
$head {
  if ($checks_shapes && !disable_meta_reference()) {
$insert call_on_meta
  }
  $unwrapped
  if (!($wrapped)) {
    if ($mixed) {
      TORCH_INTERNAL_ASSERT(false,
        "mutating a non-functional tensor with a functional tensor is not allowed.",
        " Please ensure that all of your inputs are wrapped inside of a functionalize() call.");
    } else {
      at::AutoDispatchSkipFunctionalize guard;
$insert call_unchanged
    }
  } else {
    $result tmp_output;
    {
      at::AutoDispatchSkipFunctionalize guard;
      tmp_output = $call_functional;
    }
$insert take_results
$insert returned
  }
}

$section replace
    auto ${name}_inner = at::functionalization::impl::from_functional_tensor($name);
    at::functionalization::impl::replace_($name, $value);
    at::functionalization::impl::commit_update($name);
    at::functionalization::impl::sync($name);
    auto ${name}_inner_updated = at::functionalization::impl::from_functional_tensor($name);
    at::functionalization::impl::propagate_xla_data_direct(${name}_inner, ${name}_inner_updated);

$section view
$head {
  $unwrapped
  if (!at::functionalization::impl::isFunctionalTensor($base)) {
    at::AutoDispatchSkipFunctionalize guard;
    return $view;
  }
  $inverse_return_mode
$insert reference
  $returns tmp_output;
  {
    at::AutoDispatchSkipFunctionalize guard;
    if (reapply_views) {
      tmp_output = $view;
    } else {
      tmp_output = $copy;
    }
  }
$insert view_meta
  auto out = at::functionalization::impl::create_functional_tensor_with_view_meta(tmp_output, $base, view_meta);
  if (compute_reference_meta && !disable_meta_reference()) {
    at::functionalization::impl::set_sizes_strides_offset(out, reference_tensor_output);
  }
  return out;
}

$section inplace_view
$# The reference is computed before the view is applied, which changes sizes and strides.
$head {
  if (!at::functionalization::impl::isFunctionalTensor($base)) {
    $unwrapped
    at::AutoDispatchSkipFunctionalize guard;
    return $view;
  }
  $inverse_return_mode
$insert view_meta
$insert reference
  at::functionalization::impl::mutate_view_meta($base, view_meta);
  if (compute_reference_meta && !disable_meta_reference()) {
    at::functionalization::impl::set_sizes_strides_offset($base, reference_tensor_output);
  }
  return $base;
}

$section inverse_return_mode
auto reapply_views = at::functionalization::impl::getFunctionalizationReapplyViewsTLS();
auto inverse_return_mode = (
    reapply_views ? at::functionalization::InverseReturnMode::ViewOrScatterInverse
                  : at::functionalization::InverseReturnMode::NeverView
);

$section reference
$# Finds the strides of the result, for backends that don't keep them.
  auto compute_reference_meta =
    $base.key_set().has_backend(c10::BackendComponent::XLABit) ||
    $base.key_set().has_backend(c10::BackendComponent::LazyBit);
  $type reference_tensor_output;
  if (compute_reference_meta && !disable_meta_reference()) {
$insert call_on_meta
  }

$section view_meta
  bool has_symbolic_inputs = false;
$for condition in conditions
  has_symbolic_inputs = has_symbolic_inputs | ($condition);
$endfor
  auto view_meta = std::make_shared<at::functionalization::$classname>($arguments);
