"""Schemas read from parts that are shared are those read as a whole, whatever the text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.schema.function_schema import FunctionSchema
from opgen.schema.lexer import SchemaError
from opgen.schema.memo import SchemaReader

PIECES = st.sampled_from(
    (
        *("a", "a.b", "a_", "__and__", "ns::", "(", ")", ", ", ",", "*", "*, ", "...", " -> ", "?", "()"),
        *("Tensor self", "Tensor(a!) self", "int[] n=[1, 2]", 'str s=", *, "', "Tensor(a!) out"),
        *("Tensor  self", "Tensor(a -> *) x", "int[]m", "int p = 1", "int q=", "=", " ", "é", "'x'", "1", "_"),
        *("Tensor", "Tensor(a!)", "(Tensor, Tensor x)", "int"),
    )
)
TEXTS = (
    "a(Tensor self) -> Tensor",
    "a.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
    "a(Tensor self, int[] n=[1, 2], str s=\", *, \") -> ()",
    "a_(Tensor(a!) self) -> Tensor",
    "a(Tensor self, Tensor self) -> Tensor",
    "a(Tensor self, *, Tensor(a!) out, int n) -> Tensor(a!)",
    "a(*, int n) -> int",
    "a(, *, int n) -> int",
    "a(Tensor self, *, ) -> Tensor",
    "a(Tensor self, *) -> Tensor",
    "a(Tensor self, *, int n, *, int m) -> Tensor",
    "ns::a(Tensor self) -> Tensor",
    "a(...) -> ...",
    "a(Tensor self) -> (Tensor)",
    "a(Tensor self) -> ((Tensor, int) x)",
    "a(Tensor self)  ->  Tensor",
    "a(Tensor self) ->  (Tensor, Tensor)",
)  # fmt: skip


def outcome(parse: object, text: str) -> object:
    try:
        schema = parse(text)  # type: ignore[operator]
    except SchemaError as problem:
        return (problem.id, problem.message, problem.start, problem.end, problem.label)
    return (schema, str(schema), schema.kind(), schema.signature_text())


@pytest.mark.parametrize("text", TEXTS)
def test_as_a_whole(text: str) -> None:
    assert outcome(SchemaReader().read, text) == outcome(FunctionSchema.parse, text)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_any_pieces(text: str) -> None:
    assert outcome(SchemaReader().read, text) == outcome(FunctionSchema.parse, text)


def test_all_of_torchs(torch_source: Path) -> None:
    text = (torch_source / "native" / "native_functions.yaml").read_text()
    reader = SchemaReader()
    schemas = re.findall(r"^- func: (.*)$", text, re.MULTILINE)
    assert len(schemas) > 2000
    for schema in schemas:
        read = reader.read(schema)
        assert read == FunctionSchema.parse(schema)
        assert read.signature_text() == str(read.signature())
        assert read.view_signature_text() == str(read.view_signature())
        assert read.signature_text_without_defaults() == str(read.signature(strip_default=True))


def test_equal_arguments_are_one() -> None:
    reader = SchemaReader()
    first, second = reader.read("a(Tensor self, int n=1) -> Tensor"), reader.read("b(int n=1) -> Tensor")
    assert first.arguments.flat_all[1] is second.arguments.flat_all[0]
    assert first.returns[0] is second.returns[0]
    third = reader.read("c.out(Tensor self, int n=1) -> Tensor")
    assert third.arguments is first.arguments
    assert third.returns is first.returns
