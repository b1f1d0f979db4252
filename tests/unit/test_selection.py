"""A selection keeps what torchgen's keeps, and a mistake in one is shown where it was made."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from expecttest import assert_expected_inline
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend.selection import (
    BACKEND_LIST_FLAG,
    KnownOperators,
    check_words,
    load_selection,
    select,
    selection_of_names,
)
from opgen.frozen_map import FrozenMap
from opgen.selective_build import operator as ours_operator
from opgen.selective_build.dtypes import DTYPES
from opgen.selective_build.operator import SelectiveBuildOperator, combine_operators, strip_operator_overload_name
from opgen.selective_build.selector import SelectiveBuilder, combine_selective_builders, op_name_from_native_function

theirs = pytest.importorskip("torchgen.selective_build.selector")
theirs_operator = pytest.importorskip("torchgen.selective_build.operator")

NAMES = ("aten::add", "aten::add.Tensor", "aten::add.out", "aten::sub", "mylib::add.Tensor", "add")
KNOWN = KnownOperators.of(
    ["aten::add.Tensor", "aten::add.out", "aten::empty.memory_format", "aten::relu", "mylib::twice"]
)

words = st.sampled_from(["float", "int", "all", "a", "b"])
word_lists = st.lists(words, max_size=3)
dtype_lists = st.lists(st.sampled_from(sorted(DTYPES)), max_size=3)
operator_data = st.fixed_dictionaries(
    {},
    optional={
        "is_root_operator": st.booleans(),
        "is_used_for_training": st.booleans(),
        "include_all_overloads": st.booleans(),
        "debug_info": word_lists,
    },
)
selection_data = st.fixed_dictionaries(
    {},
    optional={
        "include_all_operators": st.booleans(),
        "include_all_non_op_selectives": st.booleans(),
        "debug_info": word_lists,
        "operators": st.dictionaries(st.sampled_from(NAMES), operator_data),
        "kernel_metadata": st.dictionaries(words, dtype_lists, max_size=2),
        "et_kernel_metadata": st.dictionaries(st.sampled_from(NAMES), word_lists, max_size=2),
        "custom_classes": word_lists,
        "build_features": word_lists,
    },
)


@dataclass(frozen=True)
class FakeSchema:
    name: str


@dataclass(frozen=True)
class FakeFunction:
    namespace: str
    func: FakeSchema


def functions() -> list[FakeFunction]:
    pairs = [name.split("::") for name in NAMES if "::" in name]
    return [FakeFunction(namespace, FakeSchema(name)) for namespace, name in pairs]


def answers(selector: Any) -> list[object]:
    """Everything that one can ask a selector."""
    return [
        *(selector.is_operator_selected(name) for name in NAMES),
        *(selector.is_root_operator(name) for name in NAMES),
        *(selector.is_operator_selected_for_training(name) for name in NAMES),
        *(selector.is_native_function_selected(function) for function in functions()),
        *(selector.is_native_function_selected_for_training(function) for function in functions()),
        *(selector.is_kernel_dtype_selected(tag, dtype) for tag in ("a", "b") for dtype in ("float", "all", "x")),
    ]


@settings(max_examples=300, deadline=None)
@given(selection_data)
def test_same_as_torchgen(data: dict[str, object]) -> None:
    mine, other = SelectiveBuilder.from_yaml_dict(data), theirs.SelectiveBuilder.from_yaml_dict(data)
    assert answers(mine) == answers(other)
    assert mine.to_dict() == other.to_dict()
    assert list(mine.to_dict()) == list(other.to_dict())
    assert SelectiveBuilder.from_yaml_dict(mine.to_dict()).to_dict() == mine.to_dict()
    assert hash(mine) == hash(SelectiveBuilder.from_yaml_dict(data))
    assert pickle.loads(pickle.dumps(mine)) == mine


@settings(max_examples=300, deadline=None)
@given(selection_data, selection_data)
def test_combined_same_as_torchgen(left: dict[str, object], right: dict[str, object]) -> None:
    mine = combine_selective_builders(*map(SelectiveBuilder.from_yaml_dict, (left, right)))
    other = theirs.combine_selective_builders(*map(theirs.SelectiveBuilder.from_yaml_dict, (left, right)))
    assert answers(mine) == answers(other)
    assert normalised(mine.to_dict()) == normalised(other.to_dict())


def normalised(data: Any) -> object:
    """`data` with every list as a set: torchgen's order depends on hashes."""
    if isinstance(data, dict):
        return {key: normalised(value) for key, value in data.items()}
    return set(data) if isinstance(data, (list, tuple)) else data


@settings(max_examples=200, deadline=None)
@given(selection_data)
def test_file_reads_as_its_data(data: dict[str, object]) -> None:
    data["operators"] = {name: info for name, info in dict(data.get("operators", {})).items() if "::" in name}  # type: ignore[call-overload]
    log = Diagnostics()
    loaded = load_selection(Source("selection.yaml", yaml.safe_dump(data)), log)
    assert not log.all, log.render()
    assert loaded == SelectiveBuilder.from_yaml_dict(data)


@settings(max_examples=300, deadline=None)
@given(st.sets(st.sampled_from(NAMES)), st.booleans(), st.booleans())
def test_legacy_list_same_as_torchgen(names: set[str], root: bool, training: bool) -> None:
    mine = SelectiveBuilder.from_legacy_op_registration_allow_list(names, root, training)
    other = theirs.SelectiveBuilder.from_legacy_op_registration_allow_list(names, root, training)
    assert answers(mine) == answers(other)
    assert mine.to_dict() == other.to_dict()


KEYS = ("v1/6;0,1", "v2/6;0,1", "v1/7;0,1", "v1/3;0", "default")


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(KEYS[:-1]), max_size=3), st.lists(st.sampled_from(KEYS), max_size=4), st.booleans())
def test_kernel_keys_same_as_torchgen(needed: list[str], kernels: list[str], everything: bool) -> None:
    data: dict[str, object] = {"et_kernel_metadata": {"aten::add": needed}, "include_all_operators": everything}
    for name in ("aten::add", "aten::sub"):
        try:
            expected = sorted(theirs.SelectiveBuilder.from_yaml_dict(data).et_get_selected_kernels(name, kernels))
        except Exception:
            with pytest.raises(UserError):
                SelectiveBuilder.from_yaml_dict(data).et_get_selected_kernels(name, kernels)
        else:
            mine = SelectiveBuilder.from_yaml_dict(data).et_get_selected_kernels(name, kernels)
            assert sorted(mine) == expected


def test_selector_that_keeps_everything() -> None:
    mine = SelectiveBuilder.get_nop_selector()
    assert mine.to_dict() == theirs.SelectiveBuilder.get_nop_selector().to_dict()
    assert mine.is_root_operator("any::thing")


def test_public_names_are_those_of_torchgen() -> None:
    for name in ("SelectiveBuilder", "SelectiveBuildOperator"):
        other = getattr(theirs, name)
        mine = {"SelectiveBuilder": SelectiveBuilder, "SelectiveBuildOperator": SelectiveBuildOperator}[name]
        assert {n for n in dir(other) if not n.startswith("_")} <= set(dir(mine))
    for name in ("combine_operators", "merge_debug_info", "merge_operator_dicts", "strip_operator_overload_name"):
        assert callable(getattr(ours_operator, name))


@pytest.mark.parametrize("name", ["aten::add", "aten::add.Tensor", "a.b.c", ""])
def test_names(name: str) -> None:
    assert strip_operator_overload_name(name) == theirs_operator.strip_operator_overload_name(name)
    function = FakeFunction("aten", FakeSchema(name))
    assert op_name_from_native_function(function) == theirs.op_name_from_native_function(function)


def test_operators_of_two_names_are_not_combined() -> None:
    one, two = (SelectiveBuildOperator.from_legacy_operator_name_without_overload(name) for name in ("a", "b"))
    with pytest.raises(ValueError, match="'a' and 'b'"):
        combine_operators(one, two)


def test_plain_data_with_mistakes() -> None:
    data: dict[str, object] = {
        "opertors": {},
        "include_all_operators": "yes",
        "custom_classes": "abc",
        "kernel_metadata": ["x"],
        "operators": {"aten::add": {"is_root_operator": 1, "rot": True}, "aten::sub": [1]},
        "debug_info": None,
    }
    with pytest.raises(UserError) as caught:
        SelectiveBuilder.from_yaml_dict(data)
    assert_expected_inline(
        str(caught.value),
        """\
opgen: error: unknown key 'opertors' in a selection [unknown-key]
  did you mean 'operators'?
opgen: error: 'include_all_operators' must be true or false, not 'yes' [wrong-kind]
opgen: error: 'debug_info' must be a list, not None [wrong-kind]
opgen: error: unknown key 'rot' in operator 'aten::add' [unknown-key]
  expected one of: is_root_operator, is_used_for_training, include_all_overloads, debug_info
opgen: error: 'is_root_operator' of operator 'aten::add' must be true or false, not 1 [wrong-kind]
opgen: error: operator 'aten::sub' must be a mapping, not [1] [wrong-kind]
opgen: error: 'kernel_metadata' must be a mapping, not ['x'] [wrong-kind]
opgen: error: 'custom_classes' must be a list, not 'abc' [wrong-kind]""",
    )
    with pytest.raises(UserError):
        SelectiveBuildOperator.from_yaml_dict("aten::add", {"debug_info": "x"})


def test_reading_yaml_text_and_files(tmp_path: Path) -> None:
    path = tmp_path / "selection.yaml"
    path.write_text("operators:\n  aten::relu: {debug_info: [m]}\ninclude_all_non_op_selectives: on\n", "utf-8")
    loaded = SelectiveBuilder.from_yaml_path(str(path))
    assert loaded.operators["aten::relu"].debug_info == ("m",)
    assert loaded.include_all_non_op_selectives
    for text in ("- a", "a: [", "operators: 1"):
        with pytest.raises(UserError):
            SelectiveBuilder.from_yaml_str(text)
    with pytest.raises(UserError, match="no/such/file"):
        SelectiveBuilder.from_yaml_path("no/such/file")


def test_every_mistake_of_a_file_is_reported() -> None:
    log = Diagnostics()
    text = """\
operators:
  aten::add:
  aten::add.Tensro: {}
  aten::emty: {is_root_operator: on, is_used_for_trainning: no}
  relu: {}
  aten::relu.x: {}
  aten::empty: {include_all_overloads: false}
  prim::x: {}
  atn::relu: {}
  aten::a b: {}
  aten::sub: [x]
  aten::relu: {debug_info: foo}
kernel_metadata:
  k: [float, int]
  l: {a: b}
  m:
custom_clases: []
include_all_operators: 'yes'
"""
    load_selection(Source("selection.yaml", text), log, KNOWN)
    assert_expected_inline(
        log.render(),
        """\
selection.yaml:3:3: error: there is no operator 'aten::add.Tensro' [unknown-operator]
    3 |   aten::add.Tensro: {}
      |   ^^^^^^^^^^^^^^^^ did you mean 'aten::add.Tensor'? (one of: aten::add.Tensor, aten::add.out)
selection.yaml:4:3: error: there is no operator 'aten::emty' [unknown-operator]
    4 |   aten::emty: {is_root_operator: on, is_used_for_trainning: no}
      |   ^^^^^^^^^^ did you mean 'aten::empty'?
selection.yaml:4:38: error: unknown key 'is_used_for_trainning' in operator 'aten::emty' [unknown-key]
    4 |   aten::emty: {is_root_operator: on, is_used_for_trainning: no}
      |                                      ^^^^^^^^^^^^^^^^^^^^^ did you mean 'is_used_for_training'?
selection.yaml:5:3: error: the namespace of 'relu' is missing [missing-namespace]
    5 |   relu: {}
      |   ^^^^ did you mean 'aten::relu'?
selection.yaml:6:3: error: there is no operator 'aten::relu.x' [unknown-operator]
    6 |   aten::relu.x: {}
      |   ^^^^^^^^^^^^ did you mean 'aten::relu'?
selection.yaml:7:3: error: there is no operator 'aten::empty' [unknown-operator]
    7 |   aten::empty: {include_all_overloads: false}
      |   ^^^^^^^^^^^ it has overloads only: name one, or set 'include_all_overloads: true'
selection.yaml:8:3: warning: no operator of 'prim' is defined here: 'prim::x' changes nothing [unknown-namespace]
    8 |   prim::x: {}
      |   ^^^^^^^
selection.yaml:9:3: error: there is no operator 'atn::relu' [unknown-operator]
    9 |   atn::relu: {}
      |   ^^^^^^^^^ did you mean 'aten::relu'?
selection.yaml:10:3: error: 'aten::a b' is not the name of an operator [bad-operator-name]
   10 |   aten::a b: {}
      |   ^^^^^^^^^ write namespace::name or namespace::name.overload
selection.yaml:11:14: error: operator 'aten::sub' must be a mapping, not a list [wrong-kind]
   11 |   aten::sub: [x]
      |              ^^^ it has keys such as 'is_root_operator: ...', 'is_used_for_training: ...'
selection.yaml:12:28: error: expected a list here, not text [wrong-kind]
   12 |   aten::relu: {debug_info: foo}
      |                            ^^^
selection.yaml:15:6: error: expected text here, not a mapping [wrong-kind]
   15 |   l: {a: b}
      |      ^^^^^^
selection.yaml:16:5: error: expected text here, not an empty value [wrong-kind]
   16 |   m:
      |     ^
selection.yaml:17:1: error: unknown key 'custom_clases' in a selection [unknown-key]
   17 | custom_clases: []
      | ^^^^^^^^^^^^^ did you mean 'custom_classes'?
selection.yaml:18:24: error: 'yes' is neither true nor false [bad-boolean]
   18 | include_all_operators: 'yes'
      |                        ^^^^^ expected True or False, without quotes
14 errors
""",
    )


def test_operators_written_as_a_list() -> None:
    log = Diagnostics()
    load_selection(Source("selection.yaml", "operators:\n- aten::relu\n"), log, KNOWN)
    assert_expected_inline(
        log.render(),
        """\
selection.yaml:2:1: error: the operators of a selection must be a mapping [wrong-kind]
    2 | - aten::relu
      | ^^^^^^^^^^^^ write 'namespace::name: {}' for each
1 error
""",
    )


@pytest.mark.parametrize("text", ["", "- a", "words", "a: ["])
def test_file_that_is_no_selection(text: str) -> None:
    log = Diagnostics()
    assert load_selection(Source("selection.yaml", text), log) is None
    assert log.has_errors


def test_unknown_operators_may_be_allowed() -> None:
    log = Diagnostics()
    known = KnownOperators.of(KNOWN.names, must_exist=False)
    selector = load_selection(Source("selection.yaml", "operators: {aten::no_such_op: {}}"), log, known)
    assert selector is not None
    assert [d.severity for d in log.all] == ["warning"]


def test_mistakes_on_the_command_line() -> None:
    log = Diagnostics()
    selection_of_names(["aten::add", "aten::emty", "relu", "aten::add.Tensor", "aten::relu"], log, KNOWN)
    check_words(BACKEND_LIST_FLAG, ["CPU", "CPPU"], "dispatch key", ("CPU", "CUDA", "Meta"), log)
    assert_expected_inline(
        log.render(),
        """\
--backend-whitelist:1:5: error: there is no dispatch key 'CPPU' [unknown-dispatch-key]
    1 | CPU CPPU
      |     ^^^^ did you mean 'CPU'? (one of: CPU, CUDA, Meta)
--op-registration-whitelist:1:11: error: there is no operator 'aten::emty' [unknown-operator]
    1 | aten::add aten::emty relu aten::add.Tensor aten::relu
      |           ^^^^^^^^^^ did you mean 'aten::empty'?
--op-registration-whitelist:1:22: error: the namespace of 'relu' is missing [missing-namespace]
    1 | aten::add aten::emty relu aten::add.Tensor aten::relu
      |                      ^^^^ did you mean 'aten::relu'?
3 errors
""",
    )


def test_flags(tmp_path: Path) -> None:
    log = Diagnostics()
    assert select(None, None, log) == SelectiveBuilder.get_nop_selector()
    listed = select(["aten::relu"], None, log, KNOWN)
    assert listed is not None
    assert not listed.is_operator_selected_for_training("aten::relu")
    assert select([], None, log) == SelectiveBuilder.from_legacy_op_registration_allow_list((), True, False)
    assert not log.all
    assert select([], tmp_path / "x.yaml", log) is None
    assert select(None, tmp_path / "x.yaml", log) is None
    assert [d.id for d in log.all] == ["conflicting-flags", "missing-file"]


def test_many_unknown_operators_are_reported_quickly() -> None:
    log = Diagnostics()
    known = KnownOperators.of(f"aten::operator_number_{i}" for i in range(3000))
    selection_of_names([f"aten::no_such_operator_{i}" for i in range(2000)], log, known)
    assert len(log.all) == 2000


@settings(max_examples=200, deadline=None)
@given(st.lists(st.text(max_size=12), max_size=4))
def test_any_words_on_the_command_line(names: list[str]) -> None:
    log = Diagnostics()
    selection_of_names(names, log, KNOWN)
    check_words(BACKEND_LIST_FLAG, names, "dispatch key", ("CPU",), log)
    log.render()


def test_frozen_maps() -> None:
    one = FrozenMap({"a": 1, "b": 2})
    assert one == FrozenMap([("b", 2), ("a", 1)]) == {"a": 1, "b": 2}
    assert hash(one) == hash(FrozenMap([("b", 2), ("a", 1)]))
    assert repr(one) == "FrozenMap({'a': 1, 'b': 2})"
    assert pickle.loads(pickle.dumps(one)) == one
