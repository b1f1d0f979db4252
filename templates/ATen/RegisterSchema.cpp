$# Makes RegisterSchema.cpp, which tells the dispatcher what operators there are.
$#   aten_schema_registrations  statements for torch's own library, `aten`
$#   schema_registrations       a block for each other library
// ${generated_comment}
// The schemas of all operators.

#define TORCH_ASSERT_ONLY_METHOD_OPERATORS

#include <torch/library.h>

namespace at {

TORCH_LIBRARY(aten, m) {
  $aten_schema_registrations

  // An operator of TorchScript's, which nobody lists: torch.distributed.autograd brings its kernel.
  m.def("get_gradients(int context_id) -> Dict(Tensor, Tensor)");
}
$if schema_registrations

$schema_registrations
$endif

} // namespace at
