"""torch 2.12."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from opgen.releases.v2_11 import V2_11

V2_12: Final = replace(
    V2_11,
    version=(2, 12),
    complex_gradients=V2_11.complex_gradients | {"linear"},
    without_functional_form=V2_11.without_functional_form | {"_flash_attention_forward_no_dropout_inplace"},
    keep_dtype_of_out=frozenset({"cumprod.dimname_out", "cumprod.out", "cumsum.dimname_out", "cumsum.out"}),
    stable_tags=frozenset(
        {
            *("core", "cudagraph_unsafe", "data_dependent_output", "dynamic_output_shape", "flexible_layout"),
            *("generated", "inplace_view", "maybe_aliasing_or_mutating", "needs_contiguous_strides"),
            *("needs_exact_strides", "needs_fixed_stride_order", "nondeterministic_bitwise"),
            *("nondeterministic_seeded", "out_variant", "pointwise", "pt2_compliant_tag", "reduction", "view_copy"),
        }
    ),
)
