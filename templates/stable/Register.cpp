// $generated_comment
#include <$kernels_header>

#include <torch/csrc/stable/library.h>
$if kernel_builder

#include "registration.h"

$endif
$if guards
#include <torch/csrc/stable/accelerator.h>
#include <torch/csrc/stable/device.h>
#include <torch/headeronly/util/Exception.h>
#include <torch/headeronly/util/HeaderOnlyArrayRef.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
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

// The device of a list of tensors, or of an option; the current one if none is named.
[[maybe_unused]] int32_t device_index(torch::headeronly::HeaderOnlyArrayRef<torch::stable::Tensor> tensors) {
  return tensors.empty() ? torch::stable::accelerator::getCurrentDeviceIndex() : tensors[0].get_device_index();
}

[[maybe_unused]] int32_t device_index(const std::optional<torch::stable::Device>& device) {
  return device && device->has_index() ? device->index() : torch::stable::accelerator::getCurrentDeviceIndex();
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

${definition_macro}($library, m) {
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

${implementation_macro}($library, ${key.name}, m) {
$for kernel in key.kernels
  m.impl(${kernel.operator}, TORCH_BOX(&${kernel.name}));
$endfor
}
$endfor
$if has_module

REGISTER_EXTENSION(TORCH_EXTENSION_NAME)
$endif
