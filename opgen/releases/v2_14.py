"""torch 2.14."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from opgen.dispatch_keys import DispatchKey
from opgen.frozen_map import FrozenMap
from opgen.releases.v2_13 import V2_13

V2_14: Final = replace(
    V2_13,
    version=(2, 14),
    complex_gradients=V2_13.complex_gradients | {"linalg_matrix_sqrth", "linalg_polar"},
    node_hooks=True,
    views_own_values=True,
    class_exports=FrozenMap(),
    xpu_keys=(DispatchKey.XPU, DispatchKey.SparseXPU, DispatchKey.SparseCsrXPU, DispatchKey.NestedTensorXPU),
)
