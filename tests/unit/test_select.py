"""Selections that `opgen select` makes: torchgen reads them, and they keep what the models call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from expecttest import assert_expected_inline
from hypothesis import given, settings

from opgen.dest.mobile_header import header_values, operator_list
from opgen.frozen_map import FrozenMap
from opgen.selective_build.roots import Extras, Root, select_operators
from opgen.selective_build.selection_text import render_selection
from opgen.selective_build.selector import SelectiveBuilder, combine_selective_builders
from tests.unit.test_selection import normalised, selection_data

theirs = pytest.importorskip("torchgen.selective_build.selector")

KNOWN = ("aten::add.Tensor", "aten::add.out", "aten::relu", "aten::relu.out", "mylib::twice")


@given(selection_data)
@settings(max_examples=30, deadline=None)
def test_a_selection_is_what_torchgen_reads(data: Mapping[str, Any]) -> None:
    ours = SelectiveBuilder.from_yaml_dict(data)
    read = theirs.SelectiveBuilder.from_yaml_str(render_selection(ours))
    assert read.to_dict() == theirs.SelectiveBuilder.from_yaml_dict(dict(data)).to_dict()
    assert SelectiveBuilder.from_yaml_str(render_selection(ours)).to_dict() == ours.to_dict()


@given(selection_data, selection_data)
@settings(max_examples=30, deadline=None)
def test_what_is_merged_keeps_what_torchgen_would_keep(first: dict[str, Any], second: dict[str, Any]) -> None:
    ours = combine_selective_builders(SelectiveBuilder.from_yaml_dict(first), SelectiveBuilder.from_yaml_dict(second))
    both = [theirs.SelectiveBuilder.from_yaml_dict(data) for data in (first, second)]
    read = theirs.SelectiveBuilder.from_yaml_str(render_selection(ours))
    assert normalised(read.to_dict()) == normalised(theirs.combine_selective_builders(*both).to_dict())


def test_a_name_stands_for_all_overloads_unless_it_has_one() -> None:
    selector = select_operators(["aten::add", "aten::relu.out"], Root())
    assert [name for name in KNOWN if selector.is_operator_selected(name)] == [
        "aten::add.Tensor",
        "aten::add.out",
        "aten::relu.out",
    ]
    one = select_operators(["aten::relu"], Root(all_overloads=False))
    assert not one.is_operator_selected("aten::relu.out")


def test_what_is_said_of_roots() -> None:
    selector = select_operators(["aten::relu"], Root(is_root=False, for_training=True, debug_info=("a",)))
    assert not selector.is_root_operator("aten::relu")
    assert selector.is_operator_selected_for_training("aten::relu")
    assert selector.debug_info == ("a",)


# ----------------------------------------------------------------------------- the header


def test_the_header_lists_operators_by_overload() -> None:
    selector = select_operators(["aten::add", "aten::__getitem__.t", "mylib::twice", "prim::Print"], Root())
    assert operator_list(selector, KNOWN) == [
        "aten::__getitem__.t",
        "aten::add.Tensor",
        "aten::add.out",
        "mylib::twice",
        "prim::Print",
    ]


def test_a_selection_of_everything_limits_nothing() -> None:
    values = header_values(SelectiveBuilder.get_nop_selector(), KNOWN)
    assert values == {"allowlists": [], "checks_kernels": False, "kernel_checks": []}


def test_only_operators_are_limited_if_all_else_is_kept() -> None:
    values = header_values(
        select_operators(["aten::relu.out"], Root(), Extras(FrozenMap(), everything_else=True)), KNOWN
    )
    assert values["allowlists"] == ["#define TORCH_OPERATOR_WHITELIST aten::relu.out"]
    assert values["checks_kernels"] is False


def test_dtypes_may_be_called_by_their_names_in_cpp() -> None:
    kernels = FrozenMap({"add": ("float", "Float", "int64_t"), "none": ()})
    values = header_values(select_operators([], Root(), Extras(kernels)), KNOWN)
    assert_expected_inline(
        "\n".join(map(str, values["kernel_checks"])),  # type: ignore[call-overload]
        """\
if (kernel_tag == "add") {
  return scalar_type == at::ScalarType::Float || scalar_type == at::ScalarType::Long;
}
if (kernel_tag == "none") {
  return false;
}""",
    )
