$# Makes Register<Key>_N.cpp: wrappers around the kernels of one dispatch key, and their registrations.
$#   extra_cuda_headers, external_backend_headers   includes that only some keys need
$#   dispatch_headers, ops_headers                  includes for the helpers, and for the operators
$#   dispatch_helpers                               functions that several wrappers call
$#   dispatch_definitions                           a stretch for each group; see RegisterDispatchDefinitions.ini
// ${generated_comment}
// clang-format off

#if defined(CAFFE2_BUILD_MAIN_LIB) || defined(TORCH_CUDA_BUILD_MAIN_LIB) || defined(TORCH_XPU_BUILD_MAIN_LIB)
// A part of torch itself, which may not include what changes with every operator.
#define TORCH_ASSERT_ONLY_METHOD_OPERATORS
#endif

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <ATen/Config.h>
#include <ATen/DeviceGuard.h>
#include <ATen/Dispatch.h>
#include <ATen/Tensor.h>
#include <ATen/Utils.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/core/op_registration/adaption.h>
#include <ATen/native/Resize.h>
#include <c10/core/Allocator.h>
#include <c10/core/TensorImpl.h>
#include <c10/core/UndefinedTensorImpl.h>
#include <c10/util/ExclusivelyOwned.h>
#include <c10/util/Half.h>
#include <torch/library.h>
$if extra_cuda_headers
$extra_cuda_headers
$endif
$if external_backend_headers
$external_backend_headers
$endif
$if dispatch_headers
$dispatch_headers
$endif
$if ops_headers
$ops_headers
$endif
$if dispatch_helpers

namespace at {
namespace {

$dispatch_helpers

} // namespace
} // namespace at
$endif
$if dispatch_definitions

$dispatch_definitions
$endif
