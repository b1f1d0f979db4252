"""Functions → the includes of their headers, in sources that call both operators and kernels.

#include <ATen/ops/select_native.h>
#include <ATen/ops/select_ops.h>
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from opgen.dest.includes import ops_include
from opgen.model import NativeFunction, NativeFunctionsViewGroup


def render_includes(functions: Iterable[NativeFunction], suffixes: Sequence[str]) -> list[str]:
    """Return the includes of each function's headers with these suffixes, function by function."""
    return [ops_include(function.root_name, suffix) for function in functions for suffix in suffixes]


def view_and_copy(group: NativeFunctionsViewGroup) -> tuple[NativeFunction, ...]:
    """Return the functions of a group with different headers; the in-place form shares the view's."""
    return (group.view,) if group.view_copy is None else (group.view, group.view_copy)
