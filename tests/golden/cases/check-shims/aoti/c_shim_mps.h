/* another banner
 */

#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#ifdef __cplusplus
extern "C" {
#endif

#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_14_0
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_mps_split_off_v3(AtenTensorHandle self, int64_t* at, AtenGeneratorHandle* generator, int32_t* format, AtenTensorHandle* ret0, AtenTensorHandle* ret1, int64_t* ret2);
#endif // TORCH_FEATURE_VERSION >= TORCH_VERSION_2_14_0
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_1
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_mps_split_off_v2(AtenTensorHandle self, int64_t* at, AtenGeneratorHandle* generator, AtenTensorHandle* ret0, AtenTensorHandle* ret1, int64_t* ret2);
#endif // TORCH_FEATURE_VERSION >= TORCH_VERSION_2_13_1
#if TORCH_FEATURE_VERSION >= TORCH_VERSION_2_12_0
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_mps_split_off(AtenTensorHandle self, AtenTensorHandle* ret0, AtenTensorHandle* ret1, int64_t* ret2);
#endif // TORCH_FEATURE_VERSION >= TORCH_VERSION_2_12_0
AOTI_TORCH_EXPORT AOTITorchError aoti_torch_mps_stack_up(const AtenTensorHandle* tensors, int64_t tensors_len_, const int64_t* sizes, int64_t sizes_len_, int32_t* dtype, int32_t* device, int32_t device_index_, AtenTensorHandle* ret0);

#ifdef __cplusplus
} // extern "C"
#endif
