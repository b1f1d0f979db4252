"""A schema parsed with a memo equals the schema parsed without one, for any text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opgen.schema.function_schema import FunctionSchema, SchemaMemo
from opgen.schema.lexer import SchemaError

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


def outcome(text: str, memo: SchemaMemo | None = None) -> object:
    """The schema that `text` spells, or the mistake in it."""
    try:
        schema = FunctionSchema.parse(text, memo)
    except SchemaError as problem:
        return (problem.id, problem.message, problem.start, problem.end, problem.label)
    return (schema, str(schema), schema.kind(), schema.signature())


@pytest.mark.parametrize("text", TEXTS)
def test_a_memo_from_the_same_schema(text: str) -> None:
    memo = SchemaMemo()
    assert outcome(text, memo) == outcome(text)
    assert outcome(text, memo) == outcome(text)


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), min_size=1, max_size=4))
def test_a_memo_from_any_schemas(texts: list[str]) -> None:
    memo = SchemaMemo()
    for text in (*TEXTS, *texts):
        assert outcome(text, memo) == outcome(text)


def test_a_memo_from_all_of_torchs_schemas(torch_source: Path) -> None:
    text = (torch_source / "native" / "native_functions.yaml").read_text()
    memo = SchemaMemo()
    schemas = re.findall(r"^- func: (.*)$", text, re.MULTILINE)
    assert len(schemas) > 2000
    for schema in schemas:
        assert FunctionSchema.parse(schema, memo) == FunctionSchema.parse(schema)


def test_equal_arguments_are_one() -> None:
    memo = SchemaMemo()
    first = FunctionSchema.parse("a(Tensor self, int n=1) -> Tensor", memo)
    second = FunctionSchema.parse("b(int n=1) -> Tensor", memo)
    third = FunctionSchema.parse("c.out(Tensor self, int n=1) -> Tensor", memo)
    assert first.arguments.flat_all[1] is second.arguments.flat_all[0]
    assert first.arguments is third.arguments
    assert first.returns is second.returns
