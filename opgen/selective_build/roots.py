"""Turns a list of operators into the selection that keeps them, with the same said of each.

Root(is_root=True, for_training=False, all_overloads=None, debug_info=("model_a",))
["aten::relu.out", "aten::add"]   →   aten::relu.out alone, and every overload of aten::add
"""

from __future__ import annotations

from collections.abc import Iterable

from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.selective_build.operator import SelectiveBuildOperator
from opgen.selective_build.selector import SelectiveBuilder


@dataclass(frozen=True, slots=True)
class Root:
    """What is said of each operator of a list."""

    is_root: bool = True
    """Whether models call it, rather than other operators alone."""
    for_training: bool = False
    """Whether its autograd kernels are kept."""
    all_overloads: bool | None = None
    """Whether a name stands for every overload; None if a name without an overload does."""
    debug_info: tuple[str, ...] | None = None
    """Where the list comes from."""

    def stands_for_all(self, name: str) -> bool:
        """Whether the operator `name` of the list stands for every overload."""
        return "." not in name if self.all_overloads is None else self.all_overloads


@dataclass(frozen=True, slots=True)
class Extras:
    """What is selected besides operators."""

    kernel_metadata: FrozenMap[str, tuple[str, ...]]
    """For each kernel's tag, the dtypes that are kept."""
    custom_classes: frozenset[str] = frozenset()
    build_features: frozenset[str] = frozenset()
    everything_else: bool = False
    """Whether every kernel, class and feature is kept."""
    all_operators: bool = False
    """Whether every operator is kept, and not only those named."""


def select_operators(names: Iterable[str], root: Root, extras: Extras | None = None) -> SelectiveBuilder:
    """The selection that keeps the operators named, and what `extras` lists."""
    extras = extras or Extras(FrozenMap())
    operators = {
        name: SelectiveBuildOperator(
            name,
            root.is_root,
            root.for_training,
            root.stands_for_all(name),
            root.debug_info,
        )
        for name in sorted(set(names))
    }
    return SelectiveBuilder(
        include_all_operators=extras.all_operators,
        _debug_info=root.debug_info,
        operators=FrozenMap(operators),
        kernel_metadata=extras.kernel_metadata,
        et_kernel_metadata=FrozenMap(),
        custom_classes=extras.custom_classes,
        build_features=extras.build_features,
        include_all_non_op_selectives=extras.everything_else,
    )
