"""The data of one operator in a selection → the parts of it that a build keeps.

aten::add.Tensor:
  is_root_operator: false        # reached from another operator, not called by a model
  is_used_for_training: true     # keep its autograd kernels
  include_all_overloads: false   # this overload only
  debug_info: [model_a]          # where the selection comes from
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.selective_build.plain_data import as_boolean, as_mapping, as_texts, check_keys

OPERATOR_KEYS: Final = ("is_root_operator", "is_used_for_training", "include_all_overloads", "debug_info")
"""The keys of an operator in a selection."""


@dataclass(frozen=True, slots=True)
class SelectiveBuildOperator:
    """The selection of one overload, or of all overloads of an operator."""

    name: str
    """The name with its namespace, and with its overload unless the entry is for all overloads."""
    is_root_operator: bool
    """Whether models call the operator, so that its schema is kept; otherwise only other operators call it."""
    is_used_for_training: bool
    """Whether the autograd kernels are kept."""
    include_all_overloads: bool
    """Whether the entry is for all overloads."""
    _debug_info: tuple[str, ...] | None = None
    """The origin of the selection; None if it isn't given, which differs from an empty one."""

    @property
    def debug_info(self) -> tuple[str, ...] | None:
        """The origin of the selection."""
        return self._debug_info

    @staticmethod
    def from_yaml_dict(op_name: str, op_info: Mapping[str, object]) -> SelectiveBuildOperator:
        """Read the data of one operator; keys that are missing are true.  Raises UserError."""
        log = Diagnostics()
        operator = read_operator(op_name, op_info, log)
        log.raise_errors()
        return operator

    @staticmethod
    def from_legacy_operator_name_without_overload(name: str) -> SelectiveBuildOperator:
        """Keep everything of an operator, for all overloads."""
        return SelectiveBuildOperator(name, True, True, True)

    def to_dict(self) -> dict[str, object]:
        """Return plain data that `from_yaml_dict` reads."""
        data: dict[str, object] = {
            "is_root_operator": self.is_root_operator,
            "is_used_for_training": self.is_used_for_training,
            "include_all_overloads": self.include_all_overloads,
        }
        return data if self._debug_info is None else {**data, "debug_info": self._debug_info}


def read_operator(name: str, info: object, log: Diagnostics) -> SelectiveBuildOperator:
    """Read the data of one operator; log errors."""
    what = f"operator '{name}'"
    data = as_mapping(info, what, log)
    check_keys(data, OPERATOR_KEYS, what, log)

    def flag(key: str) -> bool:
        return as_boolean(data.get(key, True), f"'{key}' of {what}", log)

    debug_info = as_texts(data["debug_info"], f"'debug_info' of {what}", log) if "debug_info" in data else None
    all_overloads = flag("include_all_overloads")
    return SelectiveBuildOperator(
        name, flag("is_root_operator"), flag("is_used_for_training"), all_overloads, debug_info
    )


def strip_operator_overload_name(op_name: str) -> str:
    """Return the name without its overload: `aten::add` for `aten::add.Tensor`."""
    return op_name.partition(".")[0]


def merge_debug_info(lhs: tuple[str, ...] | None, rhs: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the sorted union of both; None if both are None."""
    if lhs is None and rhs is None:
        return None
    return tuple(sorted({*(lhs or ()), *(rhs or ())}))


def combine_operators(lhs: SelectiveBuildOperator, rhs: SelectiveBuildOperator) -> SelectiveBuildOperator:
    """Return the union of both, which must have the same name."""
    if lhs.name != rhs.name:
        raise ValueError(f"can't merge two different operators: '{lhs.name}' and '{rhs.name}'")
    return SelectiveBuildOperator(
        lhs.name,
        lhs.is_root_operator or rhs.is_root_operator,
        lhs.is_used_for_training or rhs.is_used_for_training,
        lhs.include_all_overloads or rhs.include_all_overloads,
        merge_debug_info(lhs._debug_info, rhs._debug_info),
    )


def merge_operator_dicts(
    lhs: Mapping[str, SelectiveBuildOperator], rhs: Mapping[str, SelectiveBuildOperator]
) -> FrozenMap[str, SelectiveBuildOperator]:
    """Return the operators of both, with common operators combined."""
    merged = dict(lhs)
    for name, operator in rhs.items():
        merged[name] = combine_operators(merged[name], operator) if name in merged else operator
    return FrozenMap(merged)
