$# Functions with a C interface, for AOTInductor (dest/aoti_c_shim.py).

$section header
$banner

#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#ifdef __cplusplus
extern "C" {
#endif

$insert functions

#ifdef __cplusplus
} // extern "C"
#endif

$section conditional
#if $condition
$insert declaration
#endif // $condition

$section definition

$head {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
    $call;
$insert results
  });
}

$section source
$banner

#include <torch/csrc/inductor/aoti_torch/$generated/c_shim_$device.h>
#include <torch/csrc/inductor/aoti_torch/utils.h>

#ifndef AT_PER_OPERATOR_HEADERS
$for include in monolithic
$include
$endfor
#else
$for include in per_operator
$include
$endfor
#endif // AT_PER_OPERATOR_HEADERS

using namespace torch::aot_inductor;
$insert functions
