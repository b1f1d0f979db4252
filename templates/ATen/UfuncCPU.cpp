$# Makes UfuncCPU_<name>.cpp: the CPU kernel of an operator whose author wrote the loop body only.
$#   meta_declaration, native_declaration  the classes of the meta function and of the kernel
$#   native_definitions                    the stub through which the loop is found, and the kernel
// ${generated_comment}

#define TORCH_ASSERT_NO_OPERATORS

#include <ATen/TensorIterator.h>
#include <ATen/TensorMeta.h>
#include <ATen/native/DispatchStub.h>

// The classes are declared here once more: the headers that do so change with every operator.
namespace at::meta {

$meta_declaration

} // namespace at::meta

namespace at::native {

$native_declaration

$native_definitions

} // namespace at::native
