"""A list of operators → the selection that keeps them, with the same flags for each.

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
    """The flags of all operators in a list."""

    is_root: bool = True
    """Whether models call the operators, or only other operators do."""
    for_training: bool = False
    """Whether their autograd kernels are kept."""
    all_overloads: bool | None = None
    """Whether names are for all overloads; None if only names without an overload are."""
    debug_info: tuple[str, ...] | None = None
    """The origin of the list."""

    def stands_for_all(self, name: str) -> bool:
        """Return whether `name`, in the list, is for all overloads."""
        return "." not in name if self.all_overloads is None else self.all_overloads


@dataclass(frozen=True, slots=True)
class Extras:
    """The selection of kernels, classes and features."""

    kernel_metadata: FrozenMap[str, tuple[str, ...]]
    """The dtypes that are kept, by the tag of a kernel."""
    custom_classes: frozenset[str] = frozenset()
    build_features: frozenset[str] = frozenset()
    everything_else: bool = False
    """Whether all kernels, classes and features are kept."""
    all_operators: bool = False
    """Whether all operators are kept, instead of only those named."""


def select_operators(names: Iterable[str], root: Root, extras: Extras | None = None) -> SelectiveBuilder:
    """Return the selection of these operators and of `extras`."""
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
