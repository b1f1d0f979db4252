$# Classes with which functionalization replays views (dest/view_meta.py).

$section class
struct TORCH_API $name : public ViewMeta {
  FUNCTIONALIZATION_VIEWMETA_NAME($name)
  FUNCTIONALIZATION_VIEWMETA_SERIALIZABLE_TUPLE($stored);

  $name(const SerializableTuple& tpl)
      : $name($elements) {}

  $name($parameters)
      : $namespace::ViewMeta($base_arguments),
        $initializers {}

  Tensor forward(const Tensor& base) override;
  Tensor reverse(const Tensor& base, const Tensor& mutated_view) override;
$if is_multi_output
  std::shared_ptr<ViewMeta> to_out_index(int64_t out_idx) override;
$endif

  SerializableTuple to_serializable_tuple() {
    return std::make_tuple($names);
  }

$for attribute in attributes
  ${attribute.type} ${attribute.name};
$endfor
};

$section members
at::Tensor $name::forward(const at::Tensor& base) {
  if (reapply_views) {
$insert view
  } else {
$insert copy
  }
}

at::Tensor $name::reverse(const at::Tensor& base, const Tensor& mutated_view) {
  return $reverse_name($arguments);
}

$section to_out_index
std::shared_ptr<$namespace::ViewMeta> $name::to_out_index(int64_t out_index) {
  return std::make_shared<$namespace::$name>($values);
}
