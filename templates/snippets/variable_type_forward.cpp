$# Statements that compute and set tangents (dest/variable_type_forward.py).

$section flags_of_lists
$insert length_checks
  std::vector<bool> $flag($length);
  for (const auto& i : c10::irange($length)) {
    $flag[i] = $any_defined;
  }

$section same_length
  TORCH_CHECK(
      $first.size() == $other.size(),
        "Tensor lists must have the same number of tensors, got ",
      $first.size(),
        " and ",
      $other.size());

$section original_self
  if ($flag) {
    original_self = self.clone();
  }

$section original_selfs
  for (const auto& i : c10::irange($length)) {
    if ($flag[i]) {
      original_selfs[i] = self[i].clone();
    }
  }

$section tangents_of_lists
  std::vector<::std::optional<at::Tensor>> ${name}_new_fw_grad_opts($length, ::std::nullopt);
  for (const auto& i : c10::irange(${name}_new_fw_grad_opts.size())) {
    if (_any_has_forward_grad_$name[i]) {
$insert inputs
        ${name}_new_fw_grad_opts[i] = $formula;
    }
  }

$section tangents
  ::std::optional<$tangent_type> ${name}_new_fw_grad_opt = ::std::nullopt;
  if (_any_has_forward_grad_$name$defined) {
$insert inputs
      ${name}_new_fw_grad_opt = $formula;
  }

$section tangent
$# Names the tangent of a value; zeros if it has none.
      auto ${name}_t_raw = toNonOptFwGrad($value);
      auto ${name}_tensor = toNonOptTensor($value);
      auto ${name}_t = (${name}_t_raw.defined() || !${name}_tensor.defined())
        ? ${name}_t_raw : at::$zeros(${name}_tensor.sym_sizes(), ${name}_tensor.options());

$section set_tensor
  if ($tangent.has_value() && $tangent.value().defined() && $name.defined()) {
    $name._set_fw_grad($tangent.value(), /* level */ 0, /* is_inplace_op */ $inplace);
  }

$section set_each
  for (const auto& i : c10::irange(${tangent}s.size())) {
    auto& $tangent = ${tangent}s[i];
    if ($tangent.has_value() && $tangent.value().defined() && $name[i].defined()) {
      $name[i]._set_fw_grad($tangent.value(), /* level */ 0, /* is_inplace_op */ $inplace);
    }
  }

$section set_one_of
  if (${name}_new_fw_grad_opt.has_value() && $tangent.defined()
      && $result.defined()) {
    $result._set_fw_grad($tangent, /* level */ 0, /* is_inplace_op */ $inplace);
  }

$section set_list
  if (${name}_new_fw_grad_opt.has_value()) {
    auto ${name}_new_fw_grad = ${name}_new_fw_grad_opt.value();
    TORCH_INTERNAL_ASSERT($name.size() == ${name}_new_fw_grad.size());
    for (const auto i : c10::irange($name.size())) {
      if (${name}_new_fw_grad[i].defined() && $name[i].defined()) {
        $name[i]._set_fw_grad(${name}_new_fw_grad[i], /* level */ 0, /* is_inplace_op */ $inplace);
      }
    }
  }
