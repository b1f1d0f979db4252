"""torch 2.15."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from opgen.dispatch_keys import DispatchKey, is_cuda_dispatch_key, is_xpu_dispatch_key
from opgen.frozen_map import FrozenMap
from opgen.releases.v2_14 import V2_14

_EXPORTS: Final = FrozenMap(
    (key, "TORCH_CUDA_CPP_API" if is_cuda_dispatch_key(key) else "TORCH_XPU_API")
    for key in DispatchKey
    if is_cuda_dispatch_key(key) or is_xpu_dispatch_key(key)
)

V2_15: Final = replace(
    V2_14,
    version=(2, 15),
    complex_gradients=V2_14.complex_gradients | {"nan_to_num"},
    avoids_copies=True,
    takes_one_view=True,
    native_aot_stubs=True,
    exported_kernels=frozenset(
        {
            "NestedTensor_softmax_dropout_cuda",
            "_index_put_impl_quantized_cuda_",
            "count_nonzero_cuda",
            "log_sigmoid_backward_cuda",
            "log_sigmoid_backward_cuda_out",
            "masked_fill__quantized_cuda",
            "triton_multi_head_attention",
        }
    ),
    class_exports=_EXPORTS,
    kernel_exports=_EXPORTS,
    unseeded_operators=V2_14.unseeded_operators | {"_philox_randint_"},
    without_functional_form=V2_14.without_functional_form | {"_cudnn_attention_forward_no_dropout_inplace"},
)
