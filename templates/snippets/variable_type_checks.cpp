$# Checks of debug builds that an operator keeps its arguments (dest/variable_type_checks.py).

$section debug_only
  #ifndef NDEBUG
$insert checks
  #endif

$section tensor_before
  auto ${name}_storage_saved =
    $name.has_storage() ? ::std::optional<Storage>($name.storage()) : ::std::nullopt;
  c10::intrusive_ptr<TensorImpl> ${name}_impl_saved;
  if ($name.defined()) ${name}_impl_saved = $name.getIntrusivePtr();

$section tensor_after
$insert same_storage
  if (${name}_impl_saved && !at::impl::dispatch_mode_enabled() && !at::impl::tensor_has_dispatch($name))
    TORCH_INTERNAL_ASSERT(${name}_impl_saved == $name.getIntrusivePtr());

$section same_storage
  if (${name}_storage_saved.has_value() &&
      !at::impl::dispatch_mode_enabled() &&
      !at::impl::tensor_has_dispatch($name) &&
      !at::impl::tensor_has_dispatch($other))
    TORCH_INTERNAL_ASSERT(${name}_storage_saved.value().is_alias_of($other.storage()));

$section tensors_before
$if reserves
  std::vector<::std::optional<Storage>> ${name}_storage_saved;
  ${name}_storage_saved.reserve($name.size());
$else
  std::vector<::std::optional<Storage>> ${name}_storage_saved($name.size());
$endif
  for (const Tensor& tensor : $name)
    ${name}_storage_saved.$add(
      tensor.has_storage() ? ::std::optional<Storage>(tensor.storage()) : ::std::nullopt);
  std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved($name.size());
  for (size_t i=0; i<$name.size(); i++)
    if ($name[i].defined()) ${name}_impl_saved[i] = $name[i].getIntrusivePtr();

$section tensors_after
  for (size_t i=0; i<$name.size() && !at::impl::dispatch_mode_enabled(); i++) {
    if (${name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch($name))
      TORCH_INTERNAL_ASSERT(${name}_storage_saved[i].value().is_alias_of($name[i].storage()));
  }
  for (size_t i=0; i<$name.size() && !at::impl::dispatch_mode_enabled(); i++) {
    if (${name}_impl_saved[i] && !at::impl::tensorlist_has_dispatch($name))
      TORCH_INTERNAL_ASSERT(${name}_impl_saved[i] == $name[i].getIntrusivePtr());
  }

$section optional_tensors_before
$if reserves
  std::vector<::std::optional<Storage>> ${name}_storage_saved;
  ${name}_storage_saved.reserve($name.size());
$else
  std::vector<::std::optional<Storage>> ${name}_storage_saved($name.size());
$endif
  for (const ::std::optional<Tensor>& tensor : $name)
    ${name}_storage_saved.$add(
      tensor.has_value() && tensor->has_storage() ? ::std::optional<Storage>(tensor->storage()) : ::std::nullopt);
  std::vector<c10::intrusive_ptr<TensorImpl>> ${name}_impl_saved($name.size());
  for (size_t i=0; i<$name.size(); i++) {
    ::std::optional<Tensor> t = $name[i];
    if (t.has_value() && t->defined()) ${name}_impl_saved[i] = t->getIntrusivePtr();
  }

$section optional_tensors_after
  for (size_t i=0; i<$name.size() && !at::impl::dispatch_mode_enabled(); i++) {
    if (${name}_storage_saved[i].has_value() && !at::impl::tensorlist_has_dispatch($name))
      TORCH_INTERNAL_ASSERT(${name}_storage_saved[i].value().is_alias_of(
          static_cast<::std::optional<Tensor>>($name[i])->storage()));
  }
  for (size_t i=0; i<$name.size() && !at::impl::dispatch_mode_enabled(); i++) {
    if (${name}_impl_saved[i])
      TORCH_INTERNAL_ASSERT(
        ${name}_impl_saved[i] == static_cast<::std::optional<Tensor>>($name[i])->getIntrusivePtr());
  }

$section result_storage
  if ($name.has_storage() && $usable) {
    TORCH_INTERNAL_ASSERT($name.storage().use_count() == 1, "function: $kernel");
  }

$section result_impl
  if ($usable)
    TORCH_INTERNAL_ASSERT($name.use_count() == expected_fresh_use_count($name), "function: $kernel");
