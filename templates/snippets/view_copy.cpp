$# Kernels made of other forms of their operator (dest/view_copy.py).

$section view_copy
$head {
  auto output = $view;
$if is_multi_output
  ::std::vector<at::Tensor> out_clone;
  for (const auto i : c10::irange(output.size())) {
    out_clone.push_back(output[i].clone(/*memory_format=*/at::MemoryFormat::Contiguous));
  }
  return out_clone;
$else
  return output.clone(/*memory_format=*/at::MemoryFormat::Contiguous);
$endif
}

$section view_copy_of_view
at::Tensor view_copy_symint(const at::Tensor & self, at::SymIntArrayRef size) {
  c10::SymDimVector shape = infer_size_dv(size, self.sym_numel());
  if (!at::detail::computeStride(self.sym_sizes(), self.sym_strides(), shape).has_value()) {
    return self.reshape_symint(size);
  } else {
    auto output = at::_ops::view::call(self, size);
    return output.clone(/*memory_format=*/at::MemoryFormat::Contiguous);
  }
}

$section functional
$head {
$for clone in clones
  auto ${clone.name} = clone_arg(${clone.argument});
$endfor
  $call;
$insert returned
}

$section out
$head {
  auto tmp_output = $call;
$for copy in copies
  resize_out_helper(${copy.out}, ${copy.result});
  copy_arg(${copy.out}, ${copy.result});
$endfor
$insert returned
}
