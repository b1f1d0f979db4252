"""torchgen's `api.translate`: bindings in scope and goals → expressions."""

from __future__ import annotations

from collections.abc import Sequence

from opgen.api import translate as solver
from opgen.api.translate import UnsatError as UnsatError
from opgen.api.types import Binding, Expr, NamedCType
from opgen.as_torchgen.errors import asserted


@asserted()
def translate(
    bindings: Sequence[Expr | Binding],
    goals: Sequence[NamedCType | Binding],
    *,
    method: bool = False,
    allow_expensive_conversions: bool = False,
) -> list[Expr]:
    """Return an expression for each goal; UnsatError if there is none."""
    return list(
        solver.translate(bindings, goals, method=method, allow_expensive_conversions=allow_expensive_conversions)
    )
