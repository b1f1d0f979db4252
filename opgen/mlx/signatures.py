"""The signature of an MLX operator, in either form → its arguments and results.

    "array add(const array& a, const array& b, *, float scale = 1.0)"

    "array(const array&, const array&, float)" and "add(a: array, b: array, *, scale: float = 1.0) -> array"

give the same `Signature`.  Namespaces are optional (`mx::`, `mlx::core::`, `std::`), and so is a last argument
`StreamOrDevice`, since every operator has one.  Errors are logged at the offending characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import Diagnostic, Diagnostics, Span, UserError, expected
from opgen.frontend.cpp_names import KEYWORDS
from opgen.frontend.nodes import Scalar
from opgen.frozen_dataclass import dataclass
from opgen.mlx.model import Argument, Default, Results
from opgen.mlx.types import ELEMENT_TYPES, WORDS, Kind, Type

_TOKEN: Final = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
          |(?P<number>[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?[fF]?)
          |(?P<word>[A-Za-z_]\w*)
          |(?P<mark>::|->|\.\.\.|[^\s\w]))""",
    re.VERBOSE | re.ASCII,
)
_NAMESPACES: Final = frozenset({"mx", "mlx", "core", "std"})
_CONTAINERS: Final = ("optional", "vector")
_TUPLES: Final = ("pair", "tuple")
_LIST_OF_INTEGERS: Final = re.compile(r"(?:-?\d+(?:,-?\d+)*,?)?")
_PYTHON_PREFIX: Final = re.compile(r"\b(?:mlx\.core|mx|typing|collections\.abc)\.")
_LISTS: Final = frozenset({Kind.ARRAY, Kind.INT, Kind.LONG})
_NOT_OPTIONAL: Final = frozenset({Kind.STREAM})
RESERVED: Final = frozenset(
    {"grad", "grad_out", "out", "stream", "s", "mx", "std", "detail", "composite", "unpack", "T", "self"}
)
"""Names that are reserved in formulas and kernels, so arguments can't have them."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments and results of an operator."""

    name: Scalar | None
    """The name in the signature, with its location; None if there is none."""
    arguments: tuple[Argument, ...]
    results: Results
    result_count: int


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


class _Reader:
    """Reads the tokens of a YAML scalar."""

    def __init__(self, where: Scalar) -> None:
        self.where = where
        self.tokens = list(_scan(where.text))
        self.index = 0

    @property
    def ahead(self) -> _Token:
        return self.tokens[self.index]

    def take(self) -> _Token:
        token = self.ahead
        self.index += token.kind != "end"
        return token

    def accept(self, text: str) -> bool:
        found = self.ahead.text == text and self.ahead.kind in ("mark", "word")
        self.index += found
        return found

    def expect(self, text: str, after: str) -> None:
        if not self.accept(text):
            raise self.error("signature-syntax", f"expected '{text}' {after}", self.ahead)

    def word(self, what: str) -> _Token:
        if self.ahead.kind != "word":
            raise self.error("signature-syntax", f"expected {what}", self.ahead)
        return self.take()

    def span(self, start: int, end: int) -> Span:
        last = len(self.where.text)
        return self.where.span_at(min(start, last - 1), max(min(end, last), min(start, last - 1) + 1))

    def error(self, id: str, message: str, token: _Token, label: str = "") -> UserError:
        return UserError(Diagnostic(id, message, self.span(token.start, token.end), label))

    def scalar(self, token: _Token) -> Scalar:
        span = self.span(token.start, token.end)
        return Scalar(token.text, self.where.source, span.start, span.end)


def _scan(text: str) -> Iterator[_Token]:
    at = 0
    while found := _TOKEN.match(text, at):
        kind = found.lastgroup or ""
        yield _Token(kind, found.group(kind), found.start(kind), found.end(kind))
        at = found.end()
    yield _Token("end", "", len(text), len(text) + 1)


# ------------------------------------------------------------------------------------------ types


def _read_cpp_type(reader: _Reader) -> Type:
    """Read a type with its qualifiers."""
    reader.accept("const")
    start = reader.ahead
    kind, container = _read_cpp_name(reader)
    if container:
        reader.expect("<", f"after '{container}'")
        reader.accept("const")
        inner = reader.ahead
        kind, nested = _read_cpp_name(reader)
        if nested:
            raise reader.error("unsupported-type", f"'{nested}' can't be inside of '{container}'", inner)
        reader.expect(">", f"after '{inner.text}'")
    if kind is None:
        raise reader.error("unknown-type", f"unknown type '{start.text}'", start, expected(start.text, WORDS))
    if (container == "vector" and kind not in _LISTS) or (container == "optional" and kind in _NOT_OPTIONAL):
        label = "there are lists of arrays and of integers" if container == "vector" else "a stream may be left out"
        raise reader.error("unsupported-type", f"there is no '{container}' of '{kind.word}'", start, label)
    while reader.accept("const") or reader.accept("&"):
        pass
    if reader.ahead.text == "*" and reader.tokens[reader.index - 1].end == reader.ahead.start:
        raise reader.error("unsupported-type", "an operator can't take pointers", reader.ahead)
    return Type(kind, optional=container == "optional", is_list=container == "vector")


def _read_cpp_name(reader: _Reader) -> tuple[Kind | None, str]:
    """Read the name of a type, without its namespaces: its kind, or its container."""
    token = reader.word("a type")
    while token.text in _NAMESPACES and reader.accept("::"):
        token = reader.word("a type")
    if token.text in _CONTAINERS:
        return None, token.text
    kind = WORDS.get(token.text)
    if kind is None:
        legal = [*WORDS, *_CONTAINERS]
        raise reader.error("unknown-type", f"unknown type '{token.text}'", token, expected(token.text, legal))
    return kind, ""


def _read_results(reader: _Reader) -> tuple[Results, int]:
    """Read the return type."""
    index, start = reader.index, reader.ahead
    token = reader.word("what the operator returns")
    while token.text in _NAMESPACES and reader.accept("::"):
        token = reader.word("what the operator returns")
    if token.text in _TUPLES:
        reader.expect("<", f"after '{token.text}'")
        count = 0
        while not count or reader.accept(","):
            _expect_array(reader, _read_cpp_type(reader), token)
            count += 1
        reader.expect(">", "after the results")
        if count < 2 or (token.text == "pair" and count != 2):
            wanted = "two results" if token.text == "pair" else "at least two results"
            raise reader.error("bad-results", f"a {token.text} has {wanted}, not {count}", token)
        return Results(token.text), count
    reader.index = index
    type = _read_cpp_type(reader)
    if type.is_list and type.is_array:
        return Results.LIST, 0
    _expect_array(reader, type, start)
    return Results.ARRAY, 1


def _expect_array(reader: _Reader, type: Type, token: _Token) -> None:
    if type != Type(Kind.ARRAY):
        label = "write 'array', 'pair<array, array>', 'tuple<array, ...>' or 'vector<array>'"
        raise reader.error("bad-results", f"an operator returns arrays, not '{type}'", token, label)


# --------------------------------------------------------------------------------------- defaults


def _read_default(reader: _Reader, type: Type, *, ends: tuple[str, ...]) -> Default:
    """Read the default of an argument, in C++'s or Python's spelling."""
    start, text, depth, previous = reader.ahead, "", 0, "mark"
    while reader.ahead.kind != "end" and (depth or reader.ahead.text not in ends):
        token = reader.take()
        depth += (token.text in "([{" and token.kind == "mark") - (token.text in ")]}" and token.kind == "mark")
        text += token.text if "mark" in (previous, token.kind) else f" {token.text}"
        previous, last = token.kind, token
    if not text:
        raise reader.error("bad-default", "expected a default after '='", start)
    default = _default(text, type)
    if default is None:
        token = _Token("", text, start.start, last.end)
        message = f"'{text}' is not a default for an argument of type '{type}'"
        raise reader.error("bad-default", message, token, _DEFAULT_LABELS.get(type.kind, "remove the default"))
    return default


_NOTHING: Final = frozenset({"None", "nullopt", "std::nullopt", "{}"})
_BOOLEANS: Final = MappingProxyType({"true": "true", "True": "true", "false": "false", "False": "false"})
_DEFAULT_LABELS: Final = MappingProxyType(
    {
        Kind.INT: "write an integer, such as 1",
        Kind.LONG: "write an integer, such as 1",
        Kind.FLOAT: "write a number, such as 1.0",
        Kind.DOUBLE: "write a number, such as 1.0",
        Kind.BOOL: "write true or false",
        Kind.STRING: "write a string in quotes",
        Kind.SHAPE: "write integers, such as {2, 3}",
        Kind.DTYPE: "write a dtype, such as float32",
    }
)


def _default(text: str, type: Type) -> Default | None:
    """Return `text` as a default of this type; None if it isn't one."""
    if type.optional and text in _NOTHING:
        return Default("std::nullopt", "nb::none()")
    if type.is_list:
        found = None if type.is_array else _integers(text)
        return None if found is None else Default(f"{type.cpp_value}{found}", f"{type.cpp_value}{found}")
    read = _READ_DEFAULT.get(type.kind)
    value = None if read is None else read(text)
    return None if value is None else Default(value, value)


def _integer(text: str) -> str | None:
    return text if re.fullmatch(r"[-+]?\d+", text) else None


def _integers(text: str) -> str | None:
    if text[:1] + text[-1:] not in ("()", "[]", "{}") or not _LIST_OF_INTEGERS.fullmatch(text, 1, len(text) - 1):
        return None
    return "{" + ", ".join(filter(None, text[1:-1].split(","))) + "}"


def _number(text: str) -> str | None:
    found = re.fullmatch(r"([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)[fF]?", text)
    if not found:
        return None
    number = found.group(1)
    return number if re.search(r"[.eE]", number) else f"{number}.0"


def _single(text: str) -> str | None:
    number = _number(text)
    return None if number is None else f"{number}f"


def _string(text: str) -> str | None:
    if re.fullmatch(r'"(?:[^"\\]|\\.)*"', text):
        return f"std::string({text})"
    if re.fullmatch(r"'(?:[^'\\]|\\.)*'", text):
        inner = text[1:-1].replace('"', '\\"')
        return f'std::string("{inner}")'
    return None


def _shape(text: str) -> str | None:
    found = _integers(text)
    return None if found is None else f"mx::Shape{found}"


def _dtype(text: str) -> str | None:
    word = re.sub(r"^(?:mlx::core::|mx::|mlx\.core\.|mx\.)", "", text)
    return f"mx::{word}" if word in ELEMENT_TYPES else None


_READ_DEFAULT: Final[Mapping[Kind, Callable[[str], str | None]]] = MappingProxyType(
    {
        Kind.INT: _integer,
        Kind.LONG: _integer,
        Kind.FLOAT: _single,
        Kind.DOUBLE: _number,
        Kind.BOOL: _BOOLEANS.get,
        Kind.STRING: _string,
        Kind.SHAPE: _shape,
        Kind.DTYPE: _dtype,
    }
)


# ---------------------------------------------------------------------------------- C++ signature


def parse_signature(where: Scalar, log: Diagnostics) -> Signature | None:
    """Parse `array add(const array& a, float scale = 1.0)`; None, with an error logged, if it isn't one."""
    reader = _Reader(where)
    try:
        results, count = _read_results(reader)
        name = reader.scalar(reader.word("the name of the operator"))
        arguments = tuple(_read_cpp_arguments(reader))
        _expect_end(reader)
        return Signature(name, _without_stream(arguments), results, count)
    except UserError as problem:
        log.extend(problem.diagnostics)
        return None


def _starts_of_arguments(reader: _Reader) -> Iterator[bool]:
    """Stop at each argument between parentheses; yield whether it is after `*`, and so keyword-only."""
    reader.expect("(", "before the arguments")
    keyword_only, first = False, True
    while not reader.accept(")"):
        if not first:
            reader.expect(",", "or ')' after an argument")
        first = False
        if reader.accept("*"):
            keyword_only = True
        else:
            yield keyword_only


def _read_cpp_arguments(reader: _Reader) -> Iterator[Argument]:
    names: dict[str, Argument] = {}
    for keyword_only in _starts_of_arguments(reader):
        type = _read_cpp_type(reader)
        token = reader.word(f"the name of the argument of type '{type}'")
        default = _read_default(reader, type, ends=(",", ")")) if _has_default(reader, type) else None
        yield _checked(reader, token, Argument(token.text, type, default, keyword_only, _place(reader, token)), names)


def _has_default(reader: _Reader, type: Type) -> bool:
    if not reader.accept("="):
        return False
    if type.kind is Kind.STREAM:
        if reader.accept("{"):
            reader.expect("}", "after '{'")
        elif not reader.accept("None"):
            raise reader.error("bad-default", "the default of a stream is '{}'", reader.ahead)
        return False
    return True


def _place(reader: _Reader, token: _Token) -> Span:
    return reader.span(token.start, token.end)


def _checked(reader: _Reader, token: _Token, argument: Argument, names: dict[str, Argument]) -> Argument:
    """Return the argument, after checking its name and position."""
    if argument.type.kind is not Kind.STREAM:
        if argument.name in RESERVED or argument.name.endswith("_") or re.fullmatch(r"(?:grad|out)\d+", argument.name):
            message = f"an argument can't be called '{argument.name}': generated code uses this name"
            raise reader.error("reserved-name", message, token)
        if argument.name in KEYWORDS:
            raise reader.error("bad-identifier", f"'{argument.name}' is a keyword of C++, not a name", token)
    if argument.name in names:
        raise reader.error("duplicate-argument", f"there are two arguments '{argument.name}'", token)
    previous = next(reversed(names.values()), None)
    if previous is not None and previous.type.kind is Kind.STREAM:
        raise reader.error("stream-not-last", "the stream is the last argument", token, "put it before the stream")
    needs_default = previous is not None and previous.default is not None and not argument.keyword_only
    if needs_default and argument.default is None and argument.type.kind is not Kind.STREAM:
        message = f"the argument '{argument.name}' has no default, but one before it has"
        raise reader.error("missing-default", message, token, "give it a default, or put '*' before it")
    names[argument.name] = argument
    return argument


def _without_stream(arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    return tuple(argument for argument in arguments if argument.type.kind is not Kind.STREAM)


def _expect_end(reader: _Reader) -> None:
    if reader.ahead.kind != "end":
        raise reader.error("signature-syntax", f"'{reader.ahead.text}' after the end of the signature", reader.ahead)


# --------------------------------------------------------------------------------- C++ and Python


def parse_signatures(cpp: Scalar, python: Scalar, log: Diagnostics) -> Signature | None:
    """Parse `array(const array&, float)` with `add(a: array, scale: float = 1.0) -> array`.

    Returns None, with errors logged, if one isn't a signature or they don't agree.
    """
    try:
        types, results, count = _read_cpp_types(_Reader(cpp))
    except UserError as problem:
        log.extend(problem.diagnostics)
        return None
    reader = _Reader(python)
    try:
        name = reader.scalar(reader.word("the name of the operator in Python"))
        arguments = tuple(_read_python_arguments(reader, types, cpp))
        _check_return(reader, results, count)
        return Signature(name, _without_stream(arguments), results, count)
    except UserError as problem:
        log.extend(problem.diagnostics)
        return None


def _read_cpp_types(reader: _Reader) -> tuple[tuple[tuple[Type, str], ...], Results, int]:
    """Read the types of the arguments, with their names if they are given."""
    results, count = _read_results(reader)
    reader.expect("(", "before the types of the arguments")
    types: list[tuple[Type, str]] = []
    while not reader.accept(")"):
        if types:
            reader.expect(",", "or ')' after a type")
        type = _read_cpp_type(reader)
        types.append((type, reader.take().text if reader.ahead.kind == "word" else ""))
    _expect_end(reader)
    return tuple(types), results, count


def _read_python_arguments(reader: _Reader, types: tuple[tuple[Type, str], ...], cpp: Scalar) -> Iterator[Argument]:
    names, count = dict[str, Argument](), 0
    for keyword_only in _starts_of_arguments(reader):
        token = reader.word("the name of an argument")
        if count >= len(types):
            message = f"the C++ signature has no argument '{token.text}': it has {len(types)}"
            raise reader.error("signatures-disagree", message, token)
        type, written = types[count]
        count += 1
        if written and written != token.text:
            message = f"this argument is called '{written}' in the C++ signature"
            raise reader.error("signatures-disagree", message, token)
        if reader.accept(":"):
            _check_annotation(reader, type)
        default = _read_default(reader, type, ends=(",", ")")) if _has_default(reader, type) else None
        yield _checked(reader, token, Argument(token.text, type, default, keyword_only, _place(reader, token)), names)
    missing = [type for type, _ in types[count:] if type.kind is not Kind.STREAM]
    if missing:
        message = f"the C++ signature has {len(types)} arguments, this one {count}"
        raise UserError(
            Diagnostic("signatures-disagree", message, reader.where.span, f"add one of type '{missing[0]}'")
        )


def _check_annotation(reader: _Reader, type: Type) -> None:
    start, text = reader.ahead, _read_annotation(reader, (",", ")", "="))
    if text not in type.python_spellings:
        message = f"'{text}' is not what the C++ type '{type}' is in Python"
        label = f"write '{type.python}'"
        raise reader.error("signatures-disagree", message, _Token("", text, start.start, _end(reader)), label)


def _check_return(reader: _Reader, results: Results, count: int) -> None:
    if reader.ahead.kind == "end":
        return
    reader.expect("->", "before what is returned")
    start, text = reader.ahead, _read_annotation(reader, ())
    wanted = {
        Results.ARRAY: "array",
        Results.LIST: "list[array]",
        Results.PAIR: "tuple[array,array]",
        Results.TUPLE: f"tuple[{','.join(['array'] * count)}]",
    }[results]
    if text != wanted:
        message = f"'{text}' is not what the C++ signature returns"
        label = f"write '{wanted.replace(',', ', ')}'"
        raise reader.error("signatures-disagree", message, _Token("", text, start.start, _end(reader)), label)


def _read_annotation(reader: _Reader, ends: tuple[str, ...]) -> str:
    """Read a Python type, without its spaces and the names of modules."""
    texts, depth = [], 0
    while reader.ahead.kind != "end" and (depth or reader.ahead.text not in ends):
        token = reader.take()
        depth += (token.text in ("[", "(")) - (token.text in ("]", ")"))
        texts.append(token.text)
    return _PYTHON_PREFIX.sub("", "".join(texts))


def _end(reader: _Reader) -> int:
    return reader.tokens[reader.index - 1].end
