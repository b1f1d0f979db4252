$# Makes RegisterSchema.cpp, which tells the dispatcher what operators there are.
$#   aten_schema_registrations  statements for torch's own library, `aten`
$#   schema_registrations       a block for each other library
$# A library can be opened only once, and torch's own is open: definitions without such operators leave it alone.
// ${generated_comment}
// The schemas of all operators.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <torch/library.h>

namespace at {
$if aten_schema_registrations

TORCH_LIBRARY(aten, m) {
  $aten_schema_registrations

  // An operator of TorchScript's, which nobody lists: torch.distributed.autograd brings its kernel.
  m.def("get_gradients(int context_id) -> Dict(Tensor, Tensor)");
}
$endif
$if schema_registrations

$schema_registrations
$endif

} // namespace at
