"""Bytecode upgraders → `upgrader_mobile.cpp`, with which the mobile interpreter runs old models.

A model has a version.  If an operator has changed since that version, the interpreter runs its *upgrader*,
a function with the operator's former behavior.

    Upgrader("gelu_0_9", instructions=(("STORE", 1, 0), …), operators=(("aten::gelu", "", 1),), …)

    ByteCodeFunctionWithOperator({
      mobile::Function::registerFunc(
        "gelu_0_9",
        std::vector<Instruction>({
          Instruction{OpCode::STORE, 1, 0},
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import indent
from typing import Final, TypeAlias

from opgen.dest.cpp_text import string_literal
from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

NAME: Final = "upgrader_mobile.cpp"

Constant: TypeAlias = str | bool | int | float | None
"""A constant in bytecode."""

_LEFT_OUT: Final = frozenset({"full_0_4", "full_out_0_4"})
"""Upgraders that mobile models don't need."""
_OPERATORS_LEFT_OUT: Final = frozenset({"aten::full", "aten::full.names", "aten::full.out"})
"""Operators that mobile models call without upgraders."""


@dataclass(frozen=True, slots=True)
class Upgrader:
    """The former behavior of an operator, as bytecode."""

    name: str
    """The operator and the versions: `gelu_0_9`."""
    instructions: tuple[tuple[str, int, int], ...]
    """The code of each operation, and its two operands."""
    operators: tuple[tuple[str, str, int], ...]
    """The called operators: name, overload, number of arguments."""
    constants: tuple[Constant, ...]
    types: tuple[str, ...]
    """In the notation of TorchScript."""
    register_size: int
    """The number of registers that it needs."""


@dataclass(frozen=True, slots=True)
class VersionRange:
    """The versions of models for which an operator needs an upgrader."""

    first: int
    last: int
    upgrader: str
    """The upgrader's name."""


def needed_upgraders(operators: Mapping[str, Sequence[VersionRange]]) -> Iterator[tuple[str, str]]:
    """Yield the operators that get an entry, in order, and the upgraders that it refers to."""
    for operator in sorted(operators.keys() - _OPERATORS_LEFT_OUT):
        yield from ((operator, range.upgrader) for range in operators[operator])


def emit_mobile_upgraders(
    upgraders: Iterable[Upgrader], operators: Mapping[str, Sequence[VersionRange]], templates: TemplateSet
) -> Iterator[OutputFile]:
    """Yield `upgrader_mobile.cpp`; `operators` are the changed ones.

    There must be an upgrader for all of `needed_upgraders`.
    """
    kept = sorted((upgrader for upgrader in upgraders if upgrader.name not in _LEFT_OUT), key=lambda each: each.name)
    places = {upgrader.name: place for place, upgrader in enumerate(kept)}
    env = {
        "versions": [
            _render_versions(operator, operators[operator], places)
            for operator in sorted(operators.keys() - _OPERATORS_LEFT_OUT)
        ],
        "upgraders": [_render_upgrader(upgrader) for upgrader in kept],
    }
    yield OutputFile(NAME, templates.render(NAME, env))


def _render_versions(operator: str, ranges: Sequence[VersionRange], places: Mapping[str, int]) -> str:
    entries = ",\n".join(
        f"    Upgrader({{{each.first}, {each.last}, {string_literal(each.upgrader)}, {places[each.upgrader]}}})"
        for each in ranges
    )
    return f"{{std::string({string_literal(operator)}),\n  std::vector<Upgrader>({{\n{entries}\n  }})}},"


def _render_upgrader(upgrader: Upgrader) -> str:
    instructions = (f"Instruction{{OpCode::{code}, {x}, {n}}}," for code, x, n in upgrader.instructions)
    constants = (f"c10::IValue({_literal(constant)})," for constant in upgrader.constants)
    types = (f"c10::parseType({string_literal(type)})," for type in upgrader.types)
    operators = (
        f"OperatorString({{{string_literal(name)}, {string_literal(overload)}, {count}}}),"
        for name, overload, count in upgrader.operators
    )
    parts = (
        string_literal(upgrader.name),
        _vector("Instruction", instructions, braces=True),
        _vector("c10::IValue", constants),
        _vector("c10::TypePtr", types),
        str(upgrader.register_size),
    )
    function = indent(",\n".join(parts), "    ")
    called = indent(_vector("OperatorString", operators, braces=True), "  ")
    return f"ByteCodeFunctionWithOperator({{\n  mobile::Function::registerFunc(\n{function}\n  ),\n{called},\n}}),"


def _vector(element: str, items: Iterable[str], *, braces: bool = False) -> str:
    """Return a vector of the items; with `braces`, an empty vector has braces too."""
    lines = "".join(f"  {item}\n" for item in items)
    return f"std::vector<{element}>({{\n{lines}}})" if lines or braces else f"std::vector<{element}>()"


def _literal(constant: Constant) -> str:
    if constant is None:
        return ""
    if isinstance(constant, bool):
        return "true" if constant else "false"
    return string_literal(constant) if isinstance(constant, str) else repr(constant)
