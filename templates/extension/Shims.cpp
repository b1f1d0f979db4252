// $generated_comment
#include <torch/csrc/inductor/aoti_torch/utils.h>
$for include in includes
#include <$include>
$endfor

namespace $namespace::detail::$unit {
namespace {

using namespace torch::aot_inductor;

// A number as it is passed: as a float and an integer, and which of them it is.
[[maybe_unused]] c10::Scalar number(double value, int64_t integer, int32_t type) {
  return type == 0 ? c10::Scalar(value) : type == 1 ? c10::Scalar(integer) : c10::Scalar(integer != 0);
}

} // namespace

extern "C" {

$if is_first
// By its address the Python package finds the library.
AOTI_TORCH_EXPORT void aoti_${namespace}_library() {}

$endif
$for shim in shims
AOTI_TORCH_EXPORT AOTITorchError ${shim.symbol}(${shim.signature.parameters}) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
$if shim.signature.results
    auto result_ = ${shim.callee}(${shim.signature.arguments});
$for statement in shim.signature.statements
    $statement
$endfor
$else
    ${shim.callee}(${shim.signature.arguments});
$endif
  });
}

$endfor
} // extern "C"

} // namespace $namespace::detail::$unit
