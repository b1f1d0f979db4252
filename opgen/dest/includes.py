"""Groups operators by the per-operator headers that declare them, and spells includes.

All forms and overloads of an operator share their headers, which are named after the name that
they have in common: `add.Tensor`, `add_.Tensor` and `add.out` are declared in `ATen/ops/add_ops.h`
as operators and in `ATen/ops/add.h` as functions.

    ops_include("add", "_ops")   →   #include <ATen/ops/add_ops.h>
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.model import NativeFunction


def by_root_name(functions: Iterable[NativeFunction]) -> dict[str, list[NativeFunction]]:
    """The functions of each per-operator header, in the order in which their names come up."""
    found: dict[str, list[NativeFunction]] = {}
    for function in functions:
        found.setdefault(function.root_name, []).append(function)
    return found


def ops_include(root_name: str, suffix: str = "") -> str:
    """The directive that includes one of the headers of the operator `root_name`."""
    return f"#include <ATen/ops/{root_name}{suffix}.h>"
