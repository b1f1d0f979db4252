$# Makes UfuncCPUKernel_<name>.cpp: the loop itself, compiled once for each set of CPU features.
$#   name                the operator's name, and that of the header with the loop body
$#   native_definitions  the loop, and its registration under the stub
// ${generated_comment}

#define TORCH_ASSERT_NO_OPERATORS

#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/cpu/vec/vec.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/cpu/Loops.h>
#include <ATen/native/ufunc/${name}.h>
#include <c10/core/Scalar.h>

namespace at::native {

$native_definitions

} // namespace at::native
