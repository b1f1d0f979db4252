"""Operators → the per-operator headers that declare them, and include lines.

All forms and overloads of an operator share headers named after their root name: `add.Tensor`,
`add_.Tensor` and `add.out` are declared in `ATen/ops/add_ops.h` as operators and in `ATen/ops/add.h` as
functions.

    ops_include("add", "_ops")   →   #include <ATen/ops/add_ops.h>
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar


class Named(Protocol):
    """A function, a group of functions, or an emitter's value for one."""

    @property
    def root_name(self) -> str:
        """The name that all forms and overloads share."""


T = TypeVar("T", bound=Named)


def by_root_name(items: Iterable[T]) -> dict[str, list[T]]:
    """Return the items of each name's header, in order of first appearance."""
    groups: dict[str, list[T]] = {}
    for item in items:
        groups.setdefault(item.root_name, []).append(item)
    return groups


def ops_include(root_name: str, suffix: str = "") -> str:
    """Return the directive that includes one of the headers of the operator `root_name`."""
    return f"#include <ATen/ops/{root_name}{suffix}.h>"
