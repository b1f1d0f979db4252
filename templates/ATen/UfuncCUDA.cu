$# Makes UfuncCUDA_<name>.cu: the CUDA kernel of an operator whose author wrote the loop body only.
$#   name                                  the operator's name, and that of the header with the loop body
$#   cuda_headers                          the include of the loops, CUDA's or HIP's
$#   meta_declaration, native_declaration  the classes of the meta function and of the kernel
$#   native_definitions                    functors, the loop, its stub and the kernel
// ${generated_comment}

#define TORCH_ASSERT_NO_OPERATORS

#include <ATen/Dispatch.h>
#include <ATen/native/DispatchStub.h>
#include <ATen/native/ufunc/${name}.h>
#include <c10/core/Scalar.h>
$cuda_headers

// The classes are declared here once more: the headers that do so change with every operator.
namespace at::meta {

$meta_declaration

} // namespace at::meta

namespace at::native {

$native_declaration
$native_definitions

} // namespace at::native
