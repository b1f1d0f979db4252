$# Makes NativeAotStubs.cpp: dispatch stubs for kernels that are compiled ahead of time.
$#   native_aot_stub_definitions   the definitions, a line each
// ${generated_comment}

#include <ATen/NativeAotStubs.h>

namespace at::native {

${native_aot_stub_definitions}

} // namespace at::native
