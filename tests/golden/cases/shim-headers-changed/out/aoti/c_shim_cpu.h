// Written by an older release.
#pragma once

#include <torch/csrc/inductor/aoti_torch/c/shim.h>

#ifdef __cplusplus
extern "C" {
#endif

AOTI_TORCH_EXPORT AOTITorchError aoti_torch_cpu_shrink_out(AtenTensorHandle out, AtenTensorHandle self, double by);

#ifdef __cplusplus
}
#endif
