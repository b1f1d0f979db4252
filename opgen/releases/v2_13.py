"""torch 2.13."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from opgen.dispatch_keys import DispatchKey
from opgen.releases.v2_12 import V2_12
from opgen.schema.types import BaseTy

V2_13: Final = replace(
    V2_12,
    version=(2, 13),
    tags=V2_12.tags | {"inplace", "out"},
    form_tags=frozenset({"inplace", "out"}),
    nodes_are_shared=False,
    override_check="has_torch_function",
    methods_start_devices=False,
    lazy_nodes_move_text=True,
    shims_have_guards=True,
    autograd_shards=10,
    named_dimensions=False,
    missing_types=frozenset({BaseTy.Dimname}),
    stable_types=V2_12.stable_types | {BaseTy.Generator},
    missing_keys=V2_12.missing_keys | {DispatchKey.Named},
)
