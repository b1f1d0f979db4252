"""A selection with torchgen's API: opgen's, with mutable dictionaries."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from opgen.as_torchgen.facade import facade
from opgen.as_torchgen.selective_build.operator import SelectiveBuildOperator as SelectiveBuildOperator
from opgen.as_torchgen.selective_build.operator import merge_operator_dicts as merge_operator_dicts
from opgen.selective_build import selector
from opgen.selective_build.operator import merge_debug_info as merge_debug_info
from opgen.selective_build.operator import strip_operator_overload_name as strip_operator_overload_name
from opgen.selective_build.selector import op_name_from_native_function as op_name_from_native_function

SelectiveBuilder = facade("SelectiveBuilder", selector.SelectiveBuilder)
combine_selective_builders = selector.combine_selective_builders

Metadata = Mapping[str, Collection[str]]


def merge_kernel_metadata(lhs: Metadata, rhs: Metadata) -> dict[str, list[str]]:
    """Return, for each tag of a kernel, the dtypes of both."""
    return {tag: list(dtypes) for tag, dtypes in selector.merge_kernel_metadata(lhs, rhs).items()}


def merge_et_kernel_metadata(lhs: Metadata, rhs: Metadata) -> dict[str, list[str]]:
    """Return, for each operator, the kernel keys of both."""
    return {name: list(keys) for name, keys in selector.merge_et_kernel_metadata(lhs, rhs).items()}
