$# Statements that record the graph (dest/variable_type_graph.py).

$section node
  $pointer grad_fn;
  if (_any_requires_grad) {
    grad_fn = $maker;
    grad_fn->set_next_edges(collect_next_edges( $names ));
$insert saved
  }

$section nodes_of_lists
  std::vector<$pointer> grad_fns;
  if (_any_requires_grad) {
    for (const auto& i : c10::irange( self.size() )) {
      const auto ith_requires_grad = compute_requires_grad($names);
      check_inplace(self[i], ith_requires_grad);
      grad_fns.push_back([&]() -> $pointer {
          if (!ith_requires_grad) {
              return nullptr;
          } else {
              auto grad_fn = $maker;
              grad_fn->set_next_edges(collect_next_edges( $names ));
              return grad_fn;
          }
      }());
    }
$insert saved
  }

$section for_each_node
$# Runs `statements` for each node of an operator on lists.
if (!grad_fns.empty()) {
$insert before
    for (const auto& i : c10::irange(grad_fns.size())) {
        $type grad_fn = grad_fns[i];
        if (grad_fn != nullptr) {
$insert statements
        }
    }
}

$section original_self
$# Saves the value of `self` before it is written to.
if (!$original.has_value()) $original = $own.clone();
grad_fn->self_ = SavedVariable($original.value(), false);

$section conditional
if ($condition) {
$insert statements
}

$section outputs_of_lists
    auto differentiable_outputs = flatten_tensor_args( $names );
    TORCH_INTERNAL_ASSERT(differentiable_outputs.size() == grad_fns.size());

$section history
$insert before
  if (grad_fn) {
      $call;
  }

$section hooks_of_lists
  for (const auto& i : c10::irange(grad_fns.size())) {
      if (_rebased_fns[i]) {
          fire_node_creation_hooks(_rebased_fns[i]);
      }
  }

$section hooks
  if ($node) {
      fire_node_creation_hooks($node);
  }

$section saved_outputs
  if (grad_fn) {
$insert statements
  }
