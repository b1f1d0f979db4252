"""One operator of a selection, with torchgen's API: opgen's, with mutable dictionaries."""

from __future__ import annotations

from collections.abc import Mapping

from opgen.as_torchgen.facade import facade
from opgen.selective_build import operator
from opgen.selective_build.operator import SelectiveBuildOperator as _Operator
from opgen.selective_build.operator import merge_debug_info as merge_debug_info
from opgen.selective_build.operator import strip_operator_overload_name as strip_operator_overload_name

SelectiveBuildOperator = facade("SelectiveBuildOperator", operator.SelectiveBuildOperator)


def combine_operators(lhs: _Operator, rhs: _Operator) -> _Operator:
    """Return the union of both entries; raise AssertionError for two different operators."""
    try:
        return operator.combine_operators(lhs, rhs)
    except ValueError as problem:
        raise AssertionError(str(problem)) from problem


def merge_operator_dicts(lhs: Mapping[str, _Operator], rhs: Mapping[str, _Operator]) -> dict[str, _Operator]:
    """Return the operators of both, with common operators combined."""
    return dict(operator.merge_operator_dicts(lhs, rhs))
