// $generated_comment
#include <ATen/Dispatch.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/cpu/Loops.h>

#include <$loop_header>
#include <$native_header>

namespace $namespace::native {
namespace {

using at::TensorIteratorBase;
using at::native::cpu_kernel;
using at::native::cpu_kernel_vec;

$loop_head {
$switch}

} // namespace

$impl
} // namespace $namespace::native
