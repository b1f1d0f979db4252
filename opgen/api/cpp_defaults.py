"""The default of an argument → the C++ expression for it.

default_expr("[0, 1]", Type.parse("int[2]"), symint=False)     →  '{0, 1}'
default_expr("None", Type.parse("Tensor?"), symint=False)      →  '{}'
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from opgen.api.boxing import is_argument_boxed, owned_ctype
from opgen.schema.registered import DTYPE_NUMBERS
from opgen.schema.types import BaseTy, BaseType, ListType, OptionalType, Type

_DEFAULT_WORDS: Final = MappingProxyType(
    {
        "False": "false",
        "True": "true",
        "None": "::std::nullopt",
        "[]": "{}",
        "Mean": "at::Reduction::Mean",
        "contiguous_format": "c10::MemoryFormat::Contiguous",
        "long": "at::kLong",
        "strided": "at::kStrided",
    }
)
"""Defaults that C++ spells differently than schemas do."""


def default_expr(d: str, t: Type, *, symint: bool) -> str:
    """Return the C++ expression for the default `d` of an argument of type `t`."""
    if d == "None" and isinstance(t, BaseType) and t.name in _NULL_DEFAULTS:
        return "{}"
    if isinstance(t, OptionalType):
        if d != "None":
            listed = t.elem if isinstance(t.elem, ListType) and is_base(t.elem.elem, BaseTy.bool) else None
            array = f"::std::array<bool,{listed.size}>" if listed is not None and listed.size is not None else ""
            return f"{array}{default_expr(d, t.elem, symint=symint)}"
        return "{}" if is_base(t.elem, BaseTy.Tensor) else "::std::nullopt"
    if isinstance(t, ListType):
        return _list_default(d, t, symint)
    if is_base(t, BaseTy.str) and d[:1] in ("'", '"'):
        return _string_literal(d)
    if isinstance(t, BaseType) and d not in _DEFAULT_WORDS:
        return _large_number(d, t.name) or _registered_default(d, t.name)
    return f"c10::complex<double>(0, {d[:-1]})" if d.endswith("j") else _DEFAULT_WORDS.get(d, d)


_ENUMERATIONS: Final = MappingProxyType(
    {BaseTy.ScalarType: "at::ScalarType", BaseTy.Layout: "at::Layout", BaseTy.MemoryFormat: "at::MemoryFormat"}
)
_NULL_DEFAULTS: Final = frozenset({BaseTy.Tensor, BaseTy.Generator})


def _large_number(d: str, base: BaseTy) -> str:
    """Return the C++ of a whole number that isn't a literal of C++, or not one of its type; empty for others."""
    if len(d) < _EXACT_DIGITS or not d.removeprefix("-").isdigit():
        return ""
    if base is BaseTy.float:
        return f"{d}.0"
    return f"({int(d) + 1} - 1)" if d == _SMALLEST else ""


_EXACT_DIGITS: Final = 16
"""A double has exactly every whole number of fewer digits."""
_SMALLEST: Final = str(-(2**63))


def _registered_default(d: str, base: BaseTy) -> str:
    """Return a default that only extensions have: a type's name or number, a device, an imaginary number."""
    if base in _ENUMERATIONS and (d.isdigit() or d in DTYPE_NUMBERS):
        return f"static_cast<{_ENUMERATIONS[base]}>({DTYPE_NUMBERS.get(d, d)})"
    if base is BaseTy.Device and d[:1] in ("'", '"'):
        return f'at::Device("{d[1:-1]}")'
    if base is BaseTy.Scalar and d.endswith("j"):
        return f"c10::complex<double>(0, {d[:-1]})"
    return d


_ELEMENT: Final = re.compile(r"[^\s,]+")


def _list_default(d: str, t: ListType, symint: bool) -> str:
    if is_base(t.elem, BaseTy.bool) and t.size is not None:
        return _bool_array_default(d, t.size)
    if d == "[]" and is_argument_boxed(t, is_write=False):
        return f"{owned_ctype(t)}()"
    if d.startswith("[") and d.endswith("]"):
        return "{" + _ELEMENT.sub(lambda word: default_expr(word[0], t.elem, symint=symint), d[1:-1]) + "}"
    expression = default_expr(d, t.elem, symint=symint)
    # A single integer fills a list of fixed size; a SymInt needs an explicit conversion.
    return (
        f"c10::SymInt({expression})" if t.size is not None and symint and is_base(t.elem, BaseTy.SymInt) else expression
    )


def _bool_array_default(d: str, size: int) -> str:
    """Return `{true, false}`; a single `True` is repeated for all elements."""
    words = d[1:-1] if d.startswith("[") else ", ".join([d] * size)
    return "{" + words.replace("True", "true").replace("False", "false") + "}"


_ESCAPED_OR_QUOTE: Final = re.compile(r'\\.|"|[\x00-\x1f]', re.DOTALL)
_REQUOTED: Final = MappingProxyType({"\\'": "'", '"': '\\"'})


def _string_literal(d: str) -> str:
    """Return `d` in double quotes and on one line; a schema may use single quotes."""
    return '"' + _ESCAPED_OR_QUOTE.sub(_requoted, d[1:-1]) + '"'


def _requoted(found: re.Match[str]) -> str:
    text = found[0]
    return f"\\{ord(text):03o}" if text < " " else _REQUOTED.get(text, text)


def is_base(t: Type, base: BaseTy) -> bool:
    """Return whether a type is the base type `base` itself, rather than a list or an optional of it."""
    return isinstance(t, BaseType) and t.name is base
