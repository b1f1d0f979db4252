/* another banner
 */

#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#ifdef __cplusplus
extern "C" {
#endif

AOTI_TORCH_EXPORT AOTITorchError aoti_torch_aten_stack_up(const AtenTensorHandle* tensors, int64_t tensors_len_, const int64_t* sizes, int64_t sizes_len_, int32_t* dtype, int32_t* device, int32_t device_index_, AtenTensorHandle* ret0);

#ifdef __cplusplus
} // extern "C"
#endif
