"""The lists of operators for tools outside of torch."""

# ruff: noqa: E501  (generated C++ is as long as it is)

from __future__ import annotations

import math
from pathlib import Path

import pytest
import yaml
from expecttest import assert_expected_inline

from opgen.dest.declarations import (
    ArgumentRows,
    emit_declarations_yaml,
    emit_registration_declarations,
    render_declaration,
    typed_default,
)
from opgen.output.template import TemplateSet
from tests.unit.tiny_programs import program_of, text_of

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"


def declaration(schema: str, rest: str = "") -> str:
    """The element that describes the one operator with that schema."""
    program = program_of(f"- func: {schema}\n  dispatch: {{CompositeExplicitAutograd: kernel}}\n{rest}")
    return render_declaration(program.signatures(program.functions[0]), ArgumentRows())


def test_a_functional_operator() -> None:
    text = declaration("mix(Tensor self, int[2] size, *, float? by=None) -> (Tensor, Tensor rest)")
    assert_expected_inline(
        text,
        """\
- name: mix
  operator_name: mix
  overload_name: ''
  manual_kernel_registration: false
  category_override: ''
  schema_string: aten::mix(Tensor self, int[2] size, *, float? by=None) -> (Tensor, Tensor rest)
  arguments:
  - name: self
    type: const at::Tensor &
    dynamic_type: at::Tensor
    is_nullable: false
    annotation: null
  - name: size
    type: at::IntArrayRef
    dynamic_type: at::IntArrayRef
    is_nullable: false
    annotation: null
    size: 2
  - name: by
    type: '::std::optional<double>'
    dynamic_type: double
    is_nullable: true
    annotation: null
    default: '::std::nullopt'
    kwarg_only: true
  schema_order_cpp_signature: '::std::tuple<at::Tensor,at::Tensor> (const at::Tensor &, at::IntArrayRef, ::std::optional<double>)'
  schema_order_arguments:
  - name: self
    type: const at::Tensor &
    dynamic_type: at::Tensor
    is_nullable: false
    annotation: null
  - name: size
    type: at::IntArrayRef
    dynamic_type: at::IntArrayRef
    is_nullable: false
    annotation: null
    size: 2
  - name: by
    type: '::std::optional<double>'
    dynamic_type: double
    is_nullable: true
    annotation: null
    default: '::std::nullopt'
    kwarg_only: true
  method_of:
  - Type
  - namespace
  mode: native
  python_module: ''
  returns:
  - name: result0
    type: at::Tensor
    dynamic_type: at::Tensor
  - name: rest
    type: at::Tensor
    dynamic_type: at::Tensor
    field_name: rest
  inplace: false
  is_factory_method: false
  abstract: true
  device_guard: true
  with_gil: false
  deprecated: false
  has_math_kernel: false
""",
    )


def test_out_arguments_come_first_for_callers_and_last_in_the_schema() -> None:
    functional = "- func: mix(Tensor self) -> Tensor\n  dispatch: {CPU: kernel}\n"
    text = declaration("mix.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", f"  tags: out\n{functional}")
    (entry,) = yaml.safe_load(text)
    assert [row["name"] for row in entry["arguments"]] == ["out", "self"]
    assert [row["name"] for row in entry["schema_order_arguments"]] == ["self", "out"]
    assert entry["arguments"][0] == {
        "allocate": True,
        "annotation": "a!",
        "dynamic_type": "at::Tensor",
        "is_nullable": False,
        "name": "out",
        "output": True,
        "type": "at::Tensor &",
    }


def test_tensor_options_are_one_parameter_for_callers() -> None:
    (entry,) = yaml.safe_load(declaration(f"blank(int n, *, {OPTIONS}) -> Tensor"))
    assert [row["name"] for row in entry["arguments"]] == ["n", "options"]
    assert entry["arguments"][1]["default"] == "{}"
    assert len(entry["schema_order_arguments"]) == 5
    assert entry["is_factory_method"] is True


def test_an_argument_named_like_a_truth_value_stays_a_text() -> None:
    (entry,) = yaml.safe_load(declaration("on(Tensor no, bool y=True) -> ()"))
    assert entry["name"] == "on"
    assert [row["name"] for row in entry["arguments"]] == ["no", "y"]
    assert entry["arguments"][1]["default"] is True
    assert entry["returns"] == []


def test_a_program_without_operators_is_an_empty_list() -> None:
    assert yaml.safe_load(text_of(emit_declarations_yaml, program_of("[]"), TemplateSet())) == []


@pytest.mark.parametrize(
    ("expression", "value"),
    [("true", True), ("false", False), ("-1", -1), ("1e-05", 1e-05), ("1.0", 1.0), ("inf", math.inf), ("{}", "{}")],
)
def test_defaults_that_python_has_too_are_values(expression: str, value: object) -> None:
    found = typed_default(expression)
    assert found == value
    assert type(found) is type(value)


def test_registrations_say_whether_a_backend_must_bring_a_kernel(tmp_path: Path) -> None:
    (tmp_path / "RegistrationDeclarations.h").write_text("$registration_declarations\n")
    definitions = """
- func: composite(Tensor self) -> Tensor
- func: plain(Tensor self, str s="x") -> Tensor
  dispatch:
    CompositeExplicitAutograd: plain
- func: mine::needed(SymInt n) -> Tensor
  dispatch:
    CPU: needed
"""
    text = text_of(emit_registration_declarations, program_of(definitions), TemplateSet(tmp_path))
    assert_expected_inline(
        text,
        """\
at::Tensor composite(const at::Tensor & self); // {"schema": "aten::composite(Tensor self) -> Tensor", "dispatch": "False", "default": "True"}
at::Tensor plain(const at::Tensor & self, c10::string_view s); // {"schema": "aten::plain(Tensor self, str s=\\"x\\") -> Tensor", "dispatch": "True", "default": "True"}
at::Tensor needed(c10::SymInt n); // {"schema": "mine::needed(SymInt n) -> Tensor", "dispatch": "True", "default": "False"}
""",
    )
