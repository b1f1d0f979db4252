"""The lists of names that torch's core knows."""

from __future__ import annotations

from expecttest import assert_expected_inline

from opgen.dest.core import emit_core_headers, emit_core_sources
from opgen.output.template import TemplateSet
from tests.unit.tiny_programs import options_of, program_of

TEMPLATES = {
    "ATenOpList.cpp": "  ${aten_ops}\n",
    "aten_interned_strings.h": "#define A(_) \\\n$aten_symbols\n#define B(_) \\\n$attr_symbols\n",
    "enum_tag.h": "enum class Tag {\n  ${enum_of_valid_tags}\n};\n",
}

OPERATORS = """
- func: add.Tensor(Tensor self, Tensor other) -> Tensor
- func: fill_(Tensor(a!) self, Scalar value) -> Tensor(a!)
- func: __and__.Scalar(Tensor self, Scalar other) -> Tensor
- func: mine::probe(bool deep) -> bool
"""


def test_operators(templates: TemplateSet) -> None:
    (source,) = emit_core_sources(program_of(OPERATORS), options_of(), templates)
    assert_expected_inline(
        source.text,
        """\
  {"aten::add", "Tensor"},
  {"aten::fill_", ""},
  {"aten::__and__", "Scalar"},
  {"mine::probe", ""},
""",
    )


def test_symbols_have_no_operator_words(templates: TemplateSet) -> None:
    symbols, _ = emit_core_headers(program_of(OPERATORS), options_of(), templates)
    assert_expected_inline(
        symbols.text,
        """\
#define A(_) \\
_(aten, __and__) \\
_(aten, add) \\
_(aten, fill) \\
_(aten, fill_) \\
_(aten, probe)
#define B(_) \\
_(attr, deep) \\
_(attr, other) \\
_(attr, self) \\
_(attr, value)
""",
    )


def test_tags_stand_in_alphabetical_order_and_in_no_list(templates: TemplateSet) -> None:
    _, tags = emit_core_headers(program_of(OPERATORS), options_of(), templates)
    words = tags.text.partition("{")[2].partition("}")[0].replace(",", " ").split()
    assert words == sorted(words)
    assert (tags.path, tags.root, tags.group) == ("enum_tag.h", "headeronly", None)
