// $generated_comment
#include <torch/csrc/autograd/autograd_not_implemented_fallback.h>
#include <torch/library.h>

TORCH_LIBRARY_IMPL($namespace, Autograd, m) {
$for operator in operators
  m.impl($operator, torch::autograd::autogradNotImplementedFallback());
$endfor
}
