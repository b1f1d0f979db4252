"""deprecated.yaml → the deprecated signatures that Python still accepts.

An entry has the deprecated signature, and a call of the current C++ function with its arguments.
The binding accepts it in addition to the operator's own signatures, but never suggests it.

    - name: addmm(Scalar beta, Tensor self, Tensor mat1, Tensor mat2) -> Tensor
      aten: addmm(self, mat1, mat2, beta, 1)

becomes a `DeprecatedForm` of the operator `addmm`: the overload of the C++ function `addmm` that takes
three tensors and two scalars.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.api.cpp import name as cpp_name
from opgen.api.python import Deprecation
from opgen.api.python_overloads import DeprecatedForm
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Source, Span, UserError, expected
from opgen.frontend.entry_fields import schema_diagnostic
from opgen.frontend.fields import Field, Table, read_fields, scalar
from opgen.frontend.nodes import ListNode, Node, Scalar, load_yaml
from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, BaseTy, BaseType, FunctionSchema, NativeFunction, OptionalType, SchemaError, Type
from opgen.schema.function_schema import check_argument_names
from opgen.schema.lexer import Cursor

NAME = Field("name", scalar)
ATEN = Field("aten", scalar)
TABLE: Final = Table.of(NAME, ATEN)

_LITERAL_TYPES: Final[Mapping[str, frozenset[BaseTy]]] = MappingProxyType(
    {
        "number": frozenset({BaseTy.Scalar, BaseTy.int, BaseTy.float, BaseTy.SymInt}),
        "string": frozenset({BaseTy.str}),
    }
)
"""The types of a C++ literal, by the kind of its token."""


@dataclass(frozen=True, slots=True)
class _Word:
    """An argument of the call: a name of the deprecated schema, or a literal."""

    text: str
    kind: str
    start: int
    end: int

    @property
    def is_name(self) -> bool:
        """Whether it names an argument of the deprecated schema."""
        return self.kind == "name" and self.text not in ("true", "false")


def load_deprecated(
    where: Source | Path, functions: Iterable[NativeFunction], log: Diagnostics
) -> tuple[DeprecatedForm, ...]:
    """Return the deprecated signatures of a file, in its order; errors are logged and skipped."""
    root = load_yaml(where, log)
    if root is None:
        return ()
    if not isinstance(root, ListNode):
        log.error(
            "wrong-kind", "a file of deprecated signatures must be a list", root.span, "start each with '- name: ...'"
        )
        return ()
    by_name: dict[str, list[NativeFunction]] = {}
    for function in functions:
        by_name.setdefault(cpp_name(function.func), []).append(function)
    forms: list[DeprecatedForm] = []
    seen: dict[str, Scalar] = {}
    for node in root.items:
        try:
            forms.extend(_read_form(node, by_name, seen, log))
        except UserError as problem:
            log.extend(problem.diagnostics)
    return tuple(forms)


def _read_form(
    node: Node, by_name: Mapping[str, list[NativeFunction]], seen: dict[str, Scalar], log: Diagnostics
) -> Iterator[DeprecatedForm]:
    values = read_fields(node, TABLE, "a deprecated signature", log)
    if values is None:
        return
    where = values[NAME]
    try:
        schema = FunctionSchema.parse(where.text)
        check_argument_names(schema, where.text)
    except SchemaError as problem:
        raise schema_diagnostic(problem, where, 0) from None
    _check_duplicate(str(schema), where, seen)
    name, words = _read_call(values[ATEN])
    arguments = {argument.name: argument for argument in schema.arguments.flat_all}
    _check_words(words, arguments, values[ATEN])
    _check_all_used(words, arguments, where, values[ATEN])
    function = _find(name, words, arguments, by_name, values[ATEN])
    _check_name(schema, function, where)
    yield DeprecatedForm(function, Deprecation(schema, tuple(word.text for word in words)))


def _check_duplicate(schema: str, where: Scalar, seen: dict[str, Scalar]) -> None:
    first = seen.setdefault(schema, where)
    if first is not where:
        notes = (Note("first given here", first.span),)
        raise UserError(
            Diagnostic("duplicate-operator", "this deprecated signature is given twice", where.span, "", notes)
        )


# ---------------------------------------------------------------------------- the call


def _read_call(where: Scalar) -> tuple[str, tuple[_Word, ...]]:
    """Return the name and the arguments of `addmm(self, mat1, mat2, beta, 1)`."""
    try:
        cursor = Cursor(where.text)
        name = cursor.name("the name of a C++ function")
        cursor.expect("(", "after the name")
        words: list[_Word] = []
        while not cursor.accept(")"):
            if words:
                cursor.expect(",", "or ')'")
            if cursor.kind not in ("name", "number", "string"):
                cursor.fail_ahead("expected an argument of the deprecated signature, or a literal")
            start, kind = cursor.start, cursor.kind
            words.append(_Word(cursor.take(), kind, start, cursor.previous_end))
        cursor.expect_end("the call")
    except SchemaError as problem:
        raise schema_diagnostic(problem, where, 0) from None
    return name, tuple(words)


def _check_words(words: Iterable[_Word], arguments: Mapping[str, Argument], where: Scalar) -> None:
    for word in words:
        if word.is_name and word.text not in arguments:
            message = f"the deprecated signature has no argument '{word.text}'"
            span = where.span_at(word.start, word.end)
            raise UserError(Diagnostic("unknown-argument", message, span, expected(word.text, arguments)))


def _check_all_used(words: Iterable[_Word], arguments: Mapping[str, Argument], where: Scalar, call: Scalar) -> None:
    unused = set(arguments) - {word.text for word in words if word.is_name}
    for name in sorted(unused):
        message = f"the argument '{name}' of the deprecated signature is never passed on"
        notes = (Note("pass it in this call", call.span),)
        raise UserError(Diagnostic("unused-argument", message, _argument_span(name, where), "", notes))


def _argument_span(name: str, schema: Scalar) -> Span:
    """Return the span of the argument `name` in a schema."""
    match = re.search(rf"\b{re.escape(name)}\s*(?=[,=)])", schema.text)
    return schema.span_at(match.start(), match.start() + len(name)) if match else schema.span


def _find(
    name: str,
    words: tuple[_Word, ...],
    arguments: Mapping[str, Argument],
    by_name: Mapping[str, list[NativeFunction]],
    where: Scalar,
) -> NativeFunction:
    """Return the operator that the call resolves to."""
    candidates = by_name.get(name)
    if candidates is None:
        message = f"there is no C++ function '{name}'"
        span = where.span_at(0, len(name))
        raise UserError(Diagnostic("unknown-operator", message, span, expected(name, by_name)))
    for function in candidates:
        if _takes(function, words, arguments):
            return function
    argument_types = ", ".join(str(arguments[word.text].type) if word.is_name else word.text for word in words)
    message = f"no overload of '{name}' takes ({argument_types})"
    notes = tuple(Note(f"there is '{function.func}'", function.loc) for function in candidates)
    has_out = any(function.func.is_out_fn() for function in candidates)
    label = "out arguments come first, as in C++" if has_out else ""
    raise UserError(Diagnostic("no-overload", message, where.span, label, notes))


def _takes(function: NativeFunction, words: tuple[_Word, ...], arguments: Mapping[str, Argument]) -> bool:
    """Return whether the C++ function accepts the words, by their types."""
    own = function.func.arguments
    types = [argument.type for argument in (*own.out, *own.flat_non_out)]
    if own.tensor_options is not None or len(types) != len(words):
        return False
    return all(_fits(word, type, arguments) for word, type in zip(words, types, strict=True))


def _fits(word: _Word, type: Type, arguments: Mapping[str, Argument]) -> bool:
    if word.is_name:
        return arguments[word.text].type == type
    base = type.elem if isinstance(type, OptionalType) else type
    legal = _LITERAL_TYPES.get(word.kind, frozenset({BaseTy.bool}))
    return isinstance(base, BaseType) and base.name in legal


def _check_name(schema: FunctionSchema, function: NativeFunction, where: Scalar) -> None:
    """Check that a deprecated signature has the name of its operator, whose Python function it overloads."""
    if schema.name.name == function.func.name.name:
        return
    name, own = str(schema.name.name), str(function.func.name.name)
    message = f"a deprecated signature of '{own}' can't be named '{name}'"
    span = where.span_at(0, len(str(schema.name)))
    notes = (Note("the operator is defined here", function.loc),)
    raise UserError(Diagnostic("deprecated-name", message, span, f"write '{own}'", notes))
