"""torch 2.11."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from opgen.releases.v2_10 import V2_10

V2_11: Final = replace(
    V2_10,
    version=(2, 11),
    tags=V2_10.tags | {"out_variant"},
    rocm_guard="c10::cuda::OptionalCUDAGuard",
    rocm_guard_header="c10/hip/HIPGuard.h",
    complex_gradients=V2_10.complex_gradients | {"ldexp"},
)
