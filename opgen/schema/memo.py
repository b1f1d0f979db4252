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

from opgen.schema.arguments import Argument, Arguments, parse_default
from opgen.schema.function_schema import FunctionSchema, keeps_rules
from opgen.schema.lexer import SchemaError
from opgen.schema.names import OVERLOAD_NAME, BaseOperatorName, OperatorName
from opgen.schema.returns import parse_returns
from opgen.schema.types import parse_annotated_type

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
        self._returns = _Known(parse_returns)

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
        listed = before.removesuffix(", ") if star else text
        if star and (not after or (before and listed in ("", before))):
            raise _OtherwiseError  # a comma beside the star is missing, or has nothing behind or before it
        positional, keyword_only = self._read_list(listed), self._read_list(after)
        arguments = Arguments.arrange(positional, keyword_only)
        names = {argument.name for argument in arguments.flat_all}
        if len(names) != len(arguments.flat_all) or arguments.flat_kwarg_only + arguments.out != keyword_only:
            raise _OtherwiseError  # there are two of a name, or an out argument stands before one that isn't
        return arguments

    def _read_list(self, text: str) -> tuple[Argument, ...]:
        """What stands between the commas of `text`."""
        return tuple([self._argument[part] for part in text.split(", ")]) if text else ()

    def _read_argument(self, text: str) -> Argument:
        declared, equals, default = text.partition("=")
        type_text, _, name = declared.rpartition(" ")
        if not (name.isidentifier() and name.isascii()):
            return Argument.parse(text)
        type, annotation = self._types[type_text]
        return Argument(name, type, self._defaults[default] if equals else None, annotation)
