"""Turns many schemas into values, and what many of them have in common only once.

Of the 9,000 arguments in torch's definitions 1,100 are different, and of the 2,600 lists that they stand in half.
A reader remembers what it read between two commas and between two parentheses, so that the rest costs a look
in a table, and so that equal parts are one value.  Whatever it can't put together from such parts, and every schema
that breaks a rule, is left to `FunctionSchema.parse`, which knows the places of mistakes.

    reader = SchemaReader()
    reader.read("abs(Tensor self) -> Tensor").arguments is reader.read("neg(Tensor self) -> Tensor").arguments
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from opgen.schema import (
    OVERLOAD_NAME,
    Argument,
    Arguments,
    BaseOperatorName,
    FunctionSchema,
    OperatorName,
    Return,
    SchemaError,
    keeps_rules,
    parse_annotated_type,
    parse_default,
)

T = TypeVar("T")


class _Known(dict[str, T]):
    """What texts were read as; one that is asked for the first time is read."""

    __slots__ = ("_read",)

    def __init__(self, read: Callable[[str], T]) -> None:
        self._read = read

    def __missing__(self, text: str) -> T:
        value = self[text] = self._read(text)
        return value


class _OtherwiseError(Exception):
    """A text isn't put together as most are; whether anything is wrong with it isn't told by that."""


class SchemaReader:
    """Reads schemas; what they have in common is shared."""

    def __init__(self) -> None:
        self._base_names = _Known(BaseOperatorName.parse)
        self._arguments = _Known(self._read_arguments)
        self._argument = _Known(self._read_argument)
        self._types = _Known(parse_annotated_type)
        self._defaults = _Known(parse_default)
        self._returns = _Known(self._read_returns)
        self._return = _Known(Return.parse)

    def read(self, text: str) -> FunctionSchema:
        """The schema that `text` spells.  Raises SchemaError, as `FunctionSchema.parse` does."""
        try:
            schema = self._assemble(text)
        except (SchemaError, _OtherwiseError):
            return FunctionSchema.parse(text)
        return schema if keeps_rules(schema) else FunctionSchema.parse(text)

    def _assemble(self, text: str) -> FunctionSchema:
        head, arrow, returned = text.rpartition(") -> ")
        name, opened, inside = head.partition("(")
        if not arrow or not opened or "..." in text or "::" in name:
            raise _OtherwiseError
        base, dot, overload = name.partition(".")
        if dot and not OVERLOAD_NAME.fullmatch(overload):
            raise _OtherwiseError
        return FunctionSchema(
            OperatorName(self._base_names[base], overload), self._arguments[inside], self._returns[returned]
        )

    def _read_arguments(self, text: str) -> Arguments:
        before, star, after = text.partition("*, ")
        if star and before and not before.endswith(", "):
            raise _OtherwiseError
        positional = _read_parts(before.removesuffix(", ") if star else text, self._argument)
        keyword_only = _read_parts(after, self._argument)
        names = {argument.name for argument in positional + keyword_only}
        writes = [argument.is_write for argument in keyword_only]
        if len(names) != len(positional) + len(keyword_only) or writes != sorted(writes):
            raise _OtherwiseError
        return Arguments.arrange(positional, keyword_only)

    def _read_argument(self, text: str) -> Argument:
        declared, equals, default = text.partition("=")
        type_text, _, name = declared.rpartition(" ")
        if not (name.isidentifier() and name.isascii()):
            return Argument.parse(text)
        type, annotation = self._types[type_text]
        return Argument(name, type, self._defaults[default] if equals else None, annotation)

    def _read_returns(self, text: str) -> tuple[Return, ...]:
        is_list = text.startswith("(") and text.endswith(")")
        return _read_parts(text[1:-1], self._return) if is_list else (self._return[text],)


def _read_parts(text: str, known: _Known[T]) -> tuple[T, ...]:
    """What stands between the commas of `text`."""
    return tuple([known[part] for part in text.split(", ")]) if text else ()
