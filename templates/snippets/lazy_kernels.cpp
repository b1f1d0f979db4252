$# Kernels of lazy backends (lazy/kernels.py).

$section kernel
$head {
  $body
}

$section force_eager_fallback
if (force_eager_fallback($symbol)) {
  return at::native::call_fallback_fn_symint<&ltc_eager_fallback, $operator>::call(
    $arguments
  );
}

$section device
auto common_device = $device;
TORCH_INTERNAL_ASSERT(common_device);

$section node
torch::lazy::NodePtr node = torch::lazy::ReuseNode<$node_class>($inputs);
if (!node) {
$insert shapes
  node = torch::lazy::MakeNode<$node_class>($made);
  CacheNode(node);
}

$section return_tensor
auto result = ${it.create_aten_from_ltc_tensor}(
    $create(std::move(node), *common_device));
return result;

$section return_tuple
std::vector<${it.lazy_tensor_ptr}> lazy_tensors;
for (int i = 0; i < $count; i++) {
  lazy_tensors.push_back($create(${it.value_class}(node, i), *common_device));
}
auto result = ${it.tuple_aten_from_ltc_tensors}<$count>(lazy_tensors);
return result;

$section return_list
std::vector<at::Tensor> result;
for (size_t i = 0; i < node->num_outputs(); i++) {
  result.push_back(${it.create_aten_from_ltc_tensor}(
      $create(${it.value_class}(node, i), *common_device)));
}
return result;

$section return_written
lazy_$name->SetInPlaceIrValue(node);
auto& result = $name;
return result;
