"""Turns many schemas into values, and each argument that many of them have only once.

Of the 13,000 arguments and returns in torch's definitions some 2,700 are different.  A reader
remembers what it read between two commas, so that the rest costs a look in a table, and so that equal
arguments are one value.  Whatever it can't put together from such parts, and every schema that breaks a
rule, is left to `FunctionSchema.parse`, which knows the places of mistakes.

    reader = SchemaReader()
    reader.read("abs(Tensor self) -> Tensor").arguments.self_arg.argument
        is reader.read("neg(Tensor self) -> Tensor").arguments.self_arg.argument
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from opgen.schema import (
    Argument,
    Arguments,
    FunctionSchema,
    OperatorName,
    Return,
    SchemaError,
    keeps_rules,
)

T = TypeVar("T")


class SchemaReader:
    """Reads schemas; what they have in common is shared."""

    def __init__(self) -> None:
        self._arguments: dict[str, Argument] = {}
        self._returns: dict[str, Return] = {}

    def read(self, text: str) -> FunctionSchema:
        """The schema that `text` spells.  Raises SchemaError, as `FunctionSchema.parse` does."""
        try:
            schema = self._assemble(text)
        except SchemaError:
            schema = None
        return FunctionSchema.parse(text) if schema is None else schema

    def _assemble(self, text: str) -> FunctionSchema | None:
        """The schema from parts between commas; None if it is not so simple, or breaks a rule."""
        head, arrow, returned = text.rpartition(") -> ")
        name, opened, inside = head.partition("(")
        if not arrow or not opened or "..." in text or "::" in name:
            return None
        arguments = self._read_arguments(inside)
        if arguments is None:
            return None
        if returned.startswith("(") and returned.endswith(")"):
            returned = returned[1:-1]
            returns = self._read_all(returned, self._returns, Return.parse)
        else:
            returns = (_remembered(returned, self._returns, Return.parse),)
        schema = FunctionSchema(OperatorName.parse(name), arguments, returns)
        return schema if keeps_rules(schema) else None

    def _read_arguments(self, inside: str) -> Arguments | None:
        before, star, after = inside.partition("*, ")
        if star and before and not before.endswith(", "):
            return None
        positional = self._read_all(before.removesuffix(", ") if star else inside, self._arguments, Argument.parse)
        keyword_only = self._read_all(after, self._arguments, Argument.parse)
        names = [argument.name for argument in positional + keyword_only]
        writes = [argument.is_write for argument in keyword_only]
        if len(set(names)) != len(names) or writes != sorted(writes):
            return None
        return Arguments.arrange(positional, keyword_only)

    def _read_all(self, text: str, known: dict[str, T], parse: Callable[[str], T]) -> tuple[T, ...]:
        """What stands between the commas of `text`."""
        return tuple([_remembered(part, known, parse) for part in text.split(", ")]) if text else ()


def _remembered(text: str, known: dict[str, T], parse: Callable[[str], T]) -> T:
    found = known.get(text)
    if found is None:
        found = known[text] = parse(text)
    return found
