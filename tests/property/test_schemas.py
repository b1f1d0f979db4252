"""Schemas: those that torch could print come back as they were; any other text is a mistake with a place."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opgen.schema.function_schema import FunctionSchema, argument_offsets
from opgen.schema.lexer import SchemaError
from opgen.schema.names import OperatorName
from opgen.schema.types import Type
from tests.property.strategies import PIECES, TYPES, repeatable, schema_texts

ANY_TEXT = st.text() | st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)


@given(schema_texts())
@repeatable(300)
def test_schemas_print_as_written(text: str) -> None:
    schema = FunctionSchema.parse(text)
    assert str(schema) == text
    assert FunctionSchema.parse(str(schema)) == schema
    assert hash(FunctionSchema.parse(text)) == hash(schema)


@given(schema_texts())
@repeatable(100)
def test_signatures_are_schemas(text: str) -> None:
    schema = FunctionSchema.parse(text)
    signature = schema.signature()
    assert signature.signature() == signature
    assert [a.name for a in signature.arguments.flat_positional] == [a.name for a in schema.arguments.flat_positional]
    assert set(argument_offsets(text)) == {a.name for a in schema.arguments.flat_all}


@given(TYPES)
@repeatable(200)
def test_types_print_as_written(text: str) -> None:
    assert str(Type.parse(text)) == text


def check_offsets(problem: SchemaError, text: str) -> None:
    assert 0 <= problem.start <= problem.end <= len(text)
    assert problem.message
    assert "\n" not in problem.message
    assert str(problem)


@given(ANY_TEXT)
@repeatable(300)
def test_any_text_is_a_schema_or_a_mistake(text: str) -> None:
    try:
        schema = FunctionSchema.parse(text)
    except SchemaError as problem:
        check_offsets(problem, text)
    else:
        assert FunctionSchema.parse(str(schema)) == schema


@given(schema_texts(), st.data())
@repeatable(300)
def test_a_changed_schema_is_a_schema_or_a_mistake(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    text = (
        text[:at] + data.draw(st.text("()[]!?,.*=>-|: ax1'\"", max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
    )
    try:
        schema = FunctionSchema.parse(text)
    except SchemaError as problem:
        check_offsets(problem, text)
    else:
        assert FunctionSchema.parse(str(schema)) == schema


@given(st.text(max_size=20) | st.from_regex(r"[a-z_:.]{1,12}", fullmatch=True))
@repeatable(300)
def test_any_text_is_an_operator_name_or_a_mistake(text: str) -> None:
    try:
        name = OperatorName.parse(text)
    except SchemaError as problem:
        check_offsets(problem, text)
    else:
        assert str(name) == text
