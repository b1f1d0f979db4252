"""Which schemas are registered, in which library, with which tags."""

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.dest.register_schema import emit_register_schema
from opgen.output.template import TemplateSet
from tests.unit.tiny_programs import program_of, text_of

TEMPLATES = {
    "RegisterSchema.cpp": ("TORCH_LIBRARY(aten, m) {\n  ${aten_schema_registrations};\n}\n${schema_registrations}\n")
}

DEFINITIONS = """
- func: scale(Tensor self, str how="as \\\\ is") -> Tensor
  tags: [pointwise, core]
- func: scale.by(Tensor self, float by) -> Tensor
  tags: [core, pointwise]
- func: drop(Tensor self) -> Tensor
- func: mine::make(int[] size) -> Tensor
  dispatch:
    CompositeExplicitAutograd: make
  tags: core
- func: quantized::mul(Tensor self, Tensor other) -> Tensor
"""


def test_equal_tags_are_declared_once_a_library(templates: TemplateSet) -> None:
    assert_expected_inline(
        text_of(emit_register_schema, program_of(DEFINITIONS), templates),
        r"""TORCH_LIBRARY(aten, m) {
  const std::vector<at::Tag> tags_0 = {at::Tag::core, at::Tag::pointwise};
  m.def("scale(Tensor self, str how=\"as \\\\ is\") -> Tensor", tags_0);
  m.def("scale.by(Tensor self, float by) -> Tensor", tags_0);
  m.def("drop(Tensor self) -> Tensor", {});;
}
TORCH_LIBRARY(mine, m) {
  const std::vector<at::Tag> tags_0 = {at::Tag::core};
  m.def("make(int[] size) -> Tensor", tags_0);
};
TORCH_LIBRARY_FRAGMENT(quantized, m) {
  m.def("mul(Tensor self, Tensor other) -> Tensor", {});
};
""",
    )


def test_only_selected_operators_are_registered(templates: TemplateSet) -> None:
    program = program_of(DEFINITIONS, selected=["aten::scale", "mine::make"])
    assert_expected_inline(
        text_of(emit_register_schema, program, templates),
        """\
TORCH_LIBRARY(aten, m) {
  const std::vector<at::Tag> tags_0 = {at::Tag::core, at::Tag::pointwise};
  m.def("scale(Tensor self, str how=\\"as \\\\\\\\ is\\") -> Tensor", tags_0);
  m.def("scale.by(Tensor self, float by) -> Tensor", tags_0);;
}
TORCH_LIBRARY(mine, m) {
  const std::vector<at::Tag> tags_0 = {at::Tag::core};
  m.def("make(int[] size) -> Tensor", tags_0);
};
TORCH_LIBRARY_FRAGMENT(quantized, m) {
};
""",
    )


def test_forced_schemas_are_registered_whatever_is_selected(templates: TemplateSet) -> None:
    everything = text_of(emit_register_schema, program_of(DEFINITIONS), templates)
    program = program_of(DEFINITIONS, selected=["aten::drop"])
    assert text_of(emit_register_schema, program, templates, force_schema_registration=True) == everything


def test_a_run_that_registers_nothing_has_no_libraries(templates: TemplateSet) -> None:
    text = text_of(emit_register_schema, program_of(DEFINITIONS), templates, skip_dispatcher_op_registration=True)
    assert text == "TORCH_LIBRARY(aten, m) {\n;\n}\n\n"
