"""The default of an argument → the fix, if it doesn't have the argument's type.

    int dim=0.5      an 'int' is a whole number, as in '0'
    Tensor[] more=[] only 'Tensor[]?' has a default, and that is 'None'

The rules are those of `torch::jit::parseSchema`, which reads schemas when a library is loaded, less what that reads and
C++ can't: it doesn't compare a default with its type.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from opgen.model import BaseTy, BaseType, ListType, OptionalType, Type

_WHOLE: Final = re.compile(r"-?(?:0|[1-9]\d*)")
_NUMBER: Final = re.compile(r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LARGEST: Final = 2**63 - 1


def wanted_default(default: str, t: Type) -> str:
    """Return what the default of an argument of type `t` must be instead; empty if `default` is legal."""
    if isinstance(t, OptionalType):
        return "" if default == "None" else _wanted_of_optional(default, t)
    if isinstance(t, ListType):
        return _wanted_of_list(default, t)
    legal, wanted = _of_base(t)
    return "" if legal(default) else wanted


def _wanted_of_optional(default: str, t: OptionalType) -> str:
    elem = t.elem
    if isinstance(elem, ListType) and elem.size is not None and elem.elem in _LISTED:
        if default.startswith("["):
            return f"'{t}' takes one element for all, or 'None'"
        elem = elem.elem
    if not isinstance(elem, BaseType) or elem.name not in _BASES:
        return f"'{t}' takes only 'None'"
    wanted = wanted_default(default, elem)
    return wanted and f"{wanted}, or 'None'"


def _wanted_of_list(default: str, t: ListType) -> str:
    if t.elem not in _LISTED:
        return _only_none(t)
    legal, wanted = _of_base(t.elem)
    if not default.startswith("["):
        is_legal = t.size is not None and default != "Mean" and legal(default)
        return "" if is_legal else f"'{t}' takes a list, such as '[]'"
    elements = [word.strip() for word in default[1:-1].split(",")] if default[1:-1].strip() else []
    # A size of 1 says only that a number may stand for a list.
    if t.size is not None and 1 < t.size < len(elements):
        return f"'{t}' takes at most {t.size} elements"
    return "" if all(map(legal, elements)) else wanted


_Check = tuple[Callable[[str], bool], str]
"""A check that a text is a value of a type, and the description of such values."""


def _of_base(t: Type) -> _Check:
    found = _BASES.get(t.name) if isinstance(t, BaseType) else None
    return found or (lambda _: False, _only_none(t))


def _only_none(t: Type) -> str:
    if isinstance(t, ListType) and isinstance(t.elem, OptionalType):
        return f"a '{t}' can't have a default"
    return f"only '{t}?' can have a default, which is 'None'"


def _is_whole(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and -_LARGEST - 1 <= int(text) <= _LARGEST


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
_LISTED: Final = frozenset(map(BaseType, (BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.bool)))
"""The element types of lists that may have a default."""
