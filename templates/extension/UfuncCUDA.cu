// $generated_comment
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <ATen/TensorIterator.h>
#include <ATen/native/cuda/Loops.cuh>

#include <$loop_header>
#include <$native_header>

namespace $namespace::native {
namespace {

using at::TensorIteratorBase;
using at::native::gpu_kernel;

$functors

$loop_head {
$switch}

} // namespace

$impl
} // namespace $namespace::native
