"""Checks the default of an argument against its type → the fix if they don't match.

    int dim=0.5      an 'int' is a whole number, as in '0'
    Tensor[] more=[] only 'Tensor[]?' has a default, and that is 'None'

The rules are those of `torch::jit::parseSchema`, which parses schemas when a library is loaded, without the defaults
that it accepts but C++ doesn't: it never compares a default with its type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from opgen.model import BaseTy, BaseType, ListType, OptionalType, Type

_WHOLE: Final = re.compile(r"-?(?:0|[1-9]\d*)")
_NUMBER: Final = re.compile(r"-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_MAX_INT: Final = 2**63 - 1


def expected_default(default: str, t: Type) -> str:
    """Return the expected form of a default of type `t`; empty if `default` is legal."""
    if isinstance(t, OptionalType):
        return "" if default == "None" else _expected_optional(default, t)
    if isinstance(t, ListType):
        return _expected_list(default, t)
    legal, expected = _base_check(t)
    return "" if legal(default) else expected


def _expected_optional(default: str, t: OptionalType) -> str:
    elem = t.elem
    if isinstance(elem, ListType) and elem.size is not None and elem.elem in _LIST_ELEMENTS:
        if default.startswith("["):
            return f"'{t}' takes one element for all, or 'None'"
        elem = elem.elem
    if not isinstance(elem, BaseType) or elem.name not in _BASES:
        return f"'{t}' takes only 'None'"
    expected = expected_default(default, elem)
    return expected and f"{expected}, or 'None'"


def _expected_list(default: str, t: ListType) -> str:
    if t.elem not in _LIST_ELEMENTS:
        return _only_none(t)
    legal, expected = _base_check(t.elem)
    if not default.startswith("["):
        is_legal = t.size is not None and default != "Mean" and legal(default)
        return "" if is_legal else f"'{t}' takes a list, such as '[]'"
    elements = [word.strip() for word in default[1:-1].split(",")] if default[1:-1].strip() else []
    # A size of 1 only means that a number may be passed instead of a list.
    if t.size is not None and 1 < t.size < len(elements):
        return f"'{t}' takes at most {t.size} elements"
    return "" if all(map(legal, elements)) else expected


_Check = tuple[Callable[[str], bool], str]
"""A check that a text is a value of a type, and the description of such values."""


def _base_check(t: Type) -> _Check:
    check = _BASES.get(t.name) if isinstance(t, BaseType) else None
    return check or (lambda _: False, _only_none(t))


def _only_none(t: Type) -> str:
    if isinstance(t, ListType) and isinstance(t.elem, OptionalType):
        return f"the type '{t}' can't have a default"
    return f"only '{t}?' can have a default, which is 'None'"


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and -_MAX_INT - 1 <= int(text) <= _MAX_INT


def _is_number(text: str) -> bool:
    return _NUMBER.fullmatch(text) is not None and math.isfinite(float(text))


def _is_scalar(text: str) -> bool:
    """Return whether torch reads the text as a number: a whole one has 64 bits."""
    return _is_whole(text) if text.removeprefix("-").isdigit() else _is_number(text)


_TEXT: Final = re.compile(r"""(["'])(?:[^\\]|\\(?:[\\'"abfntv]|[0-3][0-7]{2}))*\1""", re.DOTALL)
_ESCAPES: Final = r"\\, \', \", \a, \b, \f, \n, \t, \v and three octal digits"


def _is_text(text: str) -> bool:
    return _TEXT.fullmatch(text) is not None


def _is_bool(text: str) -> bool:
    return text in ("True", "False")


def _one_of(*words: str) -> Callable[[str], bool]:
    return frozenset(words).__contains__


_SCALAR: Final = "a 'Scalar' is a number, a whole one of 64 bits, 'True' or 'False'"
_INT: Final[_Check] = (lambda text: _is_whole(text) or text == "Mean", "an 'int' is a whole number, or 'Mean'")
_BASES: Final[Mapping[BaseTy, _Check]] = MappingProxyType(
    {
        BaseTy.int: _INT,
        BaseTy.SymInt: _INT,
        BaseTy.DeviceIndex: _INT,
        BaseTy.float: (_is_number, "a 'float' is a finite number, such as '0.5'"),
        BaseTy.bool: (_is_bool, "a 'bool' is 'True' or 'False'"),
        BaseTy.Scalar: (lambda text: _is_scalar(text) or _is_bool(text), _SCALAR),
        BaseTy.str: (_is_text, f"a 'str' is in quotes, and its escapes are {_ESCAPES}"),
        BaseTy.ScalarType: (_one_of("long"), "a 'ScalarType' is 'long'"),
        BaseTy.Layout: (_one_of("strided"), "a 'Layout' is 'strided'"),
        BaseTy.MemoryFormat: (_one_of("contiguous_format"), "a 'MemoryFormat' is 'contiguous_format'"),
    }
)
_LIST_ELEMENTS: Final = frozenset(map(BaseType, (BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.bool)))
"""The element types of lists that may have a default."""
