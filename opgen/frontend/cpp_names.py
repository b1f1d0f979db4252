"""A text → a checked C++ name, or a diagnostic with a caret at the illegal character.

ops.yaml:7:11: error: '-' is not allowed in a C++ name [bad-identifier]
    7 |     CPU: my-co::k
      |            ^ use letters, digits and '_'
"""

from __future__ import annotations

import re
from typing import Final

from opgen.diagnostics import Diagnostic, UserError
from opgen.frontend.fields import scalar
from opgen.frontend.nodes import Node, Scalar

MAX_NAMESPACES: Final = 3
"""Maximum number of namespaces in a qualified name."""

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORD_TEXT: Final = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires return
    short signed sizeof static static_assert static_cast struct switch template this thread_local
    throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
    xor xor_eq
"""
KEYWORDS: Final = frozenset(_KEYWORD_TEXT.split())
"""The keywords of C++20."""


def is_identifier(text: str) -> bool:
    """Return whether `text` is a legal identifier of C++."""
    return text.isidentifier() and text.isascii() and text not in KEYWORDS


def identifier(node: Node) -> Scalar:
    """Return `node` as a C++ identifier.  Raises UserError."""
    return _qualified(scalar(node), 0)


def qualified_name(node: Node) -> Scalar:
    """Return `node` as a C++ name with at most three namespaces: `at::native::add`.  Raises UserError."""
    return _qualified(scalar(node), MAX_NAMESPACES)


def _qualified(name: Scalar, namespaces: int) -> Scalar:
    """Return `name` if its parts are identifiers and it has at most `namespaces` namespaces.  Raises UserError."""
    if is_identifier(name.text):
        return name  # fast path
    offset = 0
    parts = name.text.split("::")
    for part in parts[: namespaces + 1]:
        _check_identifier(name, offset, part)
        offset += len(part) + 2
    if len(parts) > namespaces + 1:
        message = (
            f"'{name.text}' has more than {namespaces} namespaces" if namespaces else "write a name without a namespace"
        )
        raise UserError(Diagnostic("too-many-namespaces", message, name.span_at(offset - 2, len(name.text))))
    return name


def _check_identifier(name: Scalar, offset: int, part: str) -> None:
    """Report the first character of `part`, at offset `offset` of `name`, that an identifier can't have."""
    match = _IDENTIFIER.match(part)
    legal_length = match.end() if match else 0
    if not part or legal_length < len(part):
        span = name.span_at(offset + legal_length, offset + legal_length + 1)
        problem = (
            f"'{part[legal_length]}' is not allowed in a C++ name" if part else "a part of this C++ name is missing"
        )
        if part and not legal_length and part[0].isdigit():
            problem = "a C++ name can't start with a digit"
        raise UserError(Diagnostic("bad-identifier", problem, span, "use letters, digits and '_'"))
    if part in KEYWORDS:
        span = name.span_at(offset, offset + len(part))
        raise UserError(Diagnostic("bad-identifier", f"'{part}' is a keyword of C++, not a name", span))
