"""Structured operators → a diagnostic for each argument that no structured kernel can take.

ops.yaml:1:9: error: 'f' can't be structured: no kernel can take its argument 'x' [unsupported-type]
    1 | - func: f(Tensor self, DeviceIndex[]? x) -> Tensor
      |         ^ write kernels for its forms instead
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.api import structured
from opgen.api.signatures import Signatures
from opgen.api.translate import UnsatError, translate
from opgen.api.types import Binding, UnsupportedTypeError
from opgen.diagnostics import Diagnostic
from opgen.model import NativeFunction, NativeFunctionsGroup


def check_structured_types(grouped: Iterable[NativeFunction | NativeFunctionsGroup]) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each argument of a structured operator that its kernel can't take."""
    for group in grouped:
        if isinstance(group, NativeFunctionsGroup) and group.structured:
            function = group.functional
            bindings = Signatures(function).native.arguments
            names = [b.name for b in bindings if function.is_boxed or not _can_pass(b)]
            for name in names:
                message = f"'{function.func.name}' can't be structured: no kernel can take its argument '{name}'"
                yield Diagnostic("unsupported-type", message, function.loc, "write kernels for its forms instead")


def _can_pass(binding: Binding) -> bool:
    """Return whether a wrapper's argument converts to the argument of a structured kernel."""
    try:
        translate([binding], [structured.argument(binding.argument)])
    except (UnsatError, UnsupportedTypeError):
        return False
    return True
