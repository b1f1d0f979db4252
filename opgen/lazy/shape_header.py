"""A header of a lazy backend → whether it declares each handwritten shape function.

    backend.yaml:4:16: error: 'shapes.h' doesn't declare 'compute_shape_bincount' for 'bincount' [shape-function]
        4 | full_codegen: [bincount]
          |                ^^^^^^^^

The header is read as tokens, so comments and line ends don't matter; parameters are compared by their types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType
from typing import Final

from opgen.backend.backend_yaml import ExternalBackend
from opgen.backend.cpp_tokens import Token, expand
from opgen.diagnostics import Diagnostics, Note, Source, Span
from opgen.frozen_dataclass import dataclass
from opgen.lazy.shapes import shape_signature
from opgen.program.program import Program

_PREFIX: Final = "compute_shape_"
_WORDS: Final = frozenset({"const", "unsigned", "struct", "class", "enum"})
_BEFORE_TYPES: Final = frozenset({"<", ",", "(", "const"})
"""Tokens after which a leading `::` is redundant."""
_SAME: Final = MappingProxyType({"c10::string_view": "std::string_view"})
"""Two names of one type."""


@dataclass(frozen=True, slots=True)
class _Declaration:
    """A function that a header declares."""

    name: str
    types: tuple[str, ...]
    span: Span


def check_shape_header(header: Source, backend: ExternalBackend, program: Program, log: Diagnostics) -> int:
    """Log each missing shape function of the header; return the number of expected functions."""
    declared = list(_declarations(header))
    wanted_for, looked_for = frozenset(backend.full_codegen), 0
    for function in program.functions:
        name = function.func.name
        signature = shape_signature(function, backend.index) if name in wanted_for else None
        if signature is None:
            continue
        looked_for += 1
        near = [each for each in declared if each.name == signature.name]
        wanted = next(_declarations(Source("", f"{signature.shape_decl};")))
        if any(each.types == wanted.types for each in near):
            continue
        notes = [Note("this one has different parameters", each.span) for each in near]
        message = f"'{header.name}' doesn't declare '{signature.name}' for '{name}'"
        log.error("shape-function", message, backend.places.get(name), f"declare '{signature.shape_decl}'", notes)
    return looked_for


def _declarations(header: Source) -> Iterator[_Declaration]:
    """Return the shape functions that a header declares."""
    tokens = expand(header.text)
    for at, token in enumerate(tokens[:-1]):
        if token.text.startswith(_PREFIX) and tokens[at + 1].text == "(":
            types = tuple(_type(parameter) for parameter in _parameters(tokens, at + 1))
            yield _Declaration(token.text, types, header.span(token.start, token.end))


def _parameters(tokens: Sequence[Token], opened: int) -> Iterator[list[Token]]:
    """Return the tokens of each parameter; commas in brackets don't separate."""
    depth, parameter = 0, list[Token]()
    for at in range(opened + 1, len(tokens)):
        token = tokens[at]
        if depth == 0 and token.text in (",", ")"):
            if parameter:
                yield parameter
            if token.text == ")":
                return
            parameter = []
            continue
        depth += (token.text in "([{<") - (token.text in ")]}>")
        parameter.append(token)


def _type(parameter: Sequence[Token]) -> str:
    """Return the type of a parameter, without its name, its default, and leading `::`."""
    words = [token.text for token in parameter]
    words = words[: words.index("=")] if "=" in words else words
    if len(words) > 1 and parameter[len(words) - 1].is_name and words[-2] not in ("::", *_WORDS):
        words.pop()
    kept = [word for at, word in enumerate(words) if word != "::" or (at and words[at - 1] not in _BEFORE_TYPES)]
    spelled = " ".join(kept).replace(" :: ", "::")
    for one, other in _SAME.items():
        spelled = spelled.replace(one, other)
    return spelled
