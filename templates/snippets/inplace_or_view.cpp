$# Kernels of the dispatch key ADInplaceOrView (dest/inplace_or_view.py).

$section registration
m.impl("$operator",
       TORCH_FN(ADInplaceOrView::$kernel)
);

$section kernel
$head {
$insert body
  return $returned;
}

$section write
  {
    at::AutoDispatchBelowADInplaceOrView guard;
    $call;
  }
$for name in written
  increment_version($name);
$endfor

$section view
  auto _tmp = ([&]() {
    at::AutoDispatchBelowADInplaceOrView guard;
    return $call;
  })();
$if is_list
  for (auto view_idx : c10::irange(_tmp.size())) {
    $replay
    $as_view;
  }
  auto $name = std::move(_tmp);
$else
$if replay
  $replay
$endif
  auto $name = $as_view;
$endif

$section replay
$# Defines `func`, which takes the view again, and `rev_func`, which inverts it.
std::unique_ptr<torch::autograd::ViewFunc> func(nullptr);
std::function<at::Tensor(const at::Tensor&)> rev_func=nullptr;
if ($changes ||
    !$base.unsafeGetTensorImpl()->support_as_strided() ||
    $base.unsafeGetTensorImpl()->is_python_dispatch() ||
    c10::AutogradState::get_tls_state().get_view_replay_enabled()) {
$for name in borrowed
  auto ${name}_vec = $name.vec();
$endfor
  func = std::make_unique<torch::autograd::generated::$view_class>($replayed);
  rev_func = [=](const at::Tensor& input_view) {
    return $inverse($inverted);
  };
}
