// $generated_comment
#include <$kernels_header>

#include <torch/csrc/stable/library.h>
$if guards
#include <torch/csrc/stable/accelerator.h>
#include <torch/headeronly/util/Exception.h>

#include <initializer_list>
$endif

namespace {

$if guards
// Refuses tensors that are on different devices.
[[maybe_unused]] void check_devices(const char* name, std::initializer_list<const torch::stable::Tensor*> tensors) {
  const auto device = (*tensors.begin())->device();
  for (const auto* tensor : tensors) {
    STD_TORCH_CHECK(
        tensor->device() == device, name, "(): expected all tensors to be on the same device, but found two");
  }
}

$endif
$for key in keys
$for kernel in key.kernels
// ${kernel.origin}
${kernel.result} ${kernel.name}(${kernel.parameters}) {
$for statement in kernel.statements
  $statement
$endfor
  return ${kernel.call};
}

$endfor
$endfor
} // namespace
$if definitions

$if is_fragment
STABLE_TORCH_LIBRARY_FRAGMENT($namespace, m) {
$else
STABLE_TORCH_LIBRARY($namespace, m) {
$endif
$for definition in definitions
$if definition.tags
  m.def(${definition.schema}, {${definition.tags}});
$else
  m.def(${definition.schema});
$endif
$endfor
}
$endif
$for key in keys

STABLE_TORCH_LIBRARY_IMPL($namespace, ${key.name}, m) {
$for kernel in key.kernels
  m.impl(${kernel.operator}, TORCH_BOX(&${kernel.name}));
$endfor
}
$endfor
