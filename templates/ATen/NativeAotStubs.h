$# Makes NativeAotStubs.h: dispatch stubs for kernels that are compiled ahead of time.
$#   native_aot_stub_declarations   the declarations, a line each
#pragma once
// ${generated_comment}

#include <ATen/core/TensorBase.h>
#include <ATen/native/DispatchStub.h>

namespace at::native {

${native_aot_stub_declarations}

} // namespace at::native
