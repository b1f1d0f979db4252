$# Makes selected_mobile_ops.h, which tells torch's headers what a small build keeps.
$#   allowlists       a macro for each list that there is; without the list, all is kept
$#   checks_kernels   whether kernels are kept for some types of elements only
$#   kernel_checks    an answer for each kernel that is kept
#pragma once
// ${generated_comment}
// To be found as <ATen/selected_mobile_ops.h> by a build with TEMPLATE_SELECTIVE_BUILD.

#include <c10/core/ScalarType.h>

#include <string_view>

$if allowlists
$allowlists

$endif
namespace at {

inline constexpr bool should_include_kernel_dtype(
    [[maybe_unused]] const char* kernel_tag_str, [[maybe_unused]] at::ScalarType scalar_type) {
$if checks_kernels
  [[maybe_unused]] const std::string_view kernel_tag(kernel_tag_str);
$if kernel_checks
  $kernel_checks
$endif
  return false;
$else
  return true;
$endif
}

} // namespace at
