"""A type of a schema → its names in torch's argument parser and in stubs, and the parser's method for its value.

The parser has names of its own for types and defaults, and a method for each kind of value.

    int[1]? dim=None

    IntArrayRef[1]? dim=None      in the signature that the parser is given
    _r.intlistOptional(0)         the value, if it is the parser's first argument
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.types import UnsupportedTypeError
from opgen.model import BaseTy, BaseType, ListType, OptionalType, Type

TENSOR: Final = BaseType(BaseTy.Tensor)
BOOL: Final = BaseType(BaseTy.bool)
FLOAT: Final = BaseType(BaseTy.float)
DIMNAME: Final = BaseType(BaseTy.Dimname)

PARSER_TYPES: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "Tensor",
        BaseTy.int: "int64_t",
        BaseTy.float: "double",
        BaseTy.str: "c10::string_view",
        BaseTy.SymInt: "SymInt",
        **{
            ty: ty.name
            for ty in (
                BaseTy.bool,
                BaseTy.Scalar,
                BaseTy.ScalarType,
                BaseTy.Generator,
                BaseTy.Layout,
                BaseTy.Device,
                BaseTy.DeviceIndex,
                BaseTy.Dimname,
                BaseTy.MemoryFormat,
                BaseTy.Storage,
                BaseTy.Stream,
                BaseTy.QScheme,
            )
        },
    }
)
"""The parser's name of each type; other types can't come from Python."""

STUB_NUMBER: Final = "Number | _complex"
STUB_SYMINT: Final = "_int | SymInt"

STUB_TYPES: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "Tensor",
        BaseTy.Scalar: STUB_NUMBER,
        BaseTy.int: "_int",
        BaseTy.DeviceIndex: "_int",
        BaseTy.SymInt: STUB_SYMINT,
        BaseTy.float: "_float",
        BaseTy.bool: "_bool",
        BaseTy.str: "str",
        BaseTy.ScalarType: "_dtype",
        BaseTy.Layout: "_layout",
        BaseTy.Device: "DeviceLikeType | None",
        BaseTy.MemoryFormat: "memory_format",
        BaseTy.QScheme: "_qscheme",
        BaseTy.Generator: "Generator",
        BaseTy.Storage: "Storage | UntypedStorage",
        BaseTy.Stream: "Stream",
        BaseTy.Dimname: "str | EllipsisType | None",
    }
)
"""The types that stubs give arguments, by the type in the schema; a device may be given by name or as None."""

_PARSER_LISTS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "TensorList",
        BaseTy.int: "IntArrayRef",
        BaseTy.SymInt: "SymIntArrayRef",
        BaseTy.Scalar: "ScalarList",
        BaseTy.Dimname: "DimnameList",
    }
)

# --------------------------------------------------------------------------------- types


def argument_type_str(t: Type, *, simple_type: bool = False) -> str:
    """Return the parser's spelling of `t`; with `simple_type`, without the size of a list."""
    if isinstance(t, BaseType):
        if t.name in PARSER_TYPES:
            return PARSER_TYPES[t.name]
    elif isinstance(t, OptionalType):
        return f"{argument_type_str(t.elem, simple_type=simple_type)}?"
    elif isinstance(t, ListType):
        return _list_type_str(t, simple_type)
    raise UnsupportedTypeError(t, "can't be given from Python")


def _list_type_str(t: ListType, simple_type: bool) -> str:
    elem = t.elem
    if isinstance(elem, OptionalType) and elem.elem == TENSOR:
        return "c10::List<::std::optional<Tensor>>"
    if elem == BOOL and t.size is not None:
        return f"::std::array<bool,{t.size}>"
    if not isinstance(elem, BaseType) or elem == BOOL:
        raise UnsupportedTypeError(t, "can't be given from Python")
    name = _PARSER_LISTS.get(elem.name)
    if name is None:
        return f"ArrayRef<{argument_type_str(elem)}>"
    return name if t.size is None or simple_type else f"{name}[{t.size}]"


def argument_type_size(t: Type) -> int | None:
    """Return the size of a list that a single element may replace in Python; None if there is none."""
    as_list = t.is_list_like()
    return None if as_list is None or as_list.elem == BOOL else as_list.size


# ------------------------------------------------------------------------------ defaults

_DEFAULT_WORDS: Final = MappingProxyType(
    {
        "[]": "None",
        "Mean": "at::Reduction::Mean",
        "contiguous_format": "c10::MemoryFormat::Contiguous",
        "long": "torch.int64",
        "strided": "torch.strided",
    }
)
"""Defaults that the parser spells differently than schemas do."""
_MEAN: Final = "1"
"""The value of `at::Reduction::Mean`, which the parser reads for a plain `int` only."""
_EXPONENT: Final = re.compile(r"[-+]?[\d.]+e[-+]?\d+")


def parser_default(default: str, t: Type) -> str:
    """Return the default as the parser reads it."""
    if default[:1] in ("'", '"'):
        return cpp.default_expr(default, BaseType(BaseTy.str), symint=False)
    if default.startswith("[") and default != "[]" and t.is_list_like():
        # The parser takes what comes after a space for the next argument.
        return "{" + default[1:-1].replace(" ", "").replace("Mean", _MEAN) + "}"
    if default == "Mean" and t not in (BaseType(BaseTy.int), OptionalType(BaseType(BaseTy.int))):
        return _MEAN
    if "e" in default and _EXPONENT.fullmatch(default):
        return str(float(default))
    return _DEFAULT_WORDS.get(default, default)


_READ_DEFAULTS: Final[Mapping[BaseTy, tuple[str, ...]]] = MappingProxyType(
    {
        BaseTy.ScalarType: ("None", "long"),
        BaseTy.Layout: ("None", "strided"),
        BaseTy.Device: ("None",),
    }
)
"""The only defaults of these types that the parser accepts."""


def unreadable_default(default: str | None, t: Type) -> str:
    """Return the C++ value of a default that the parser can't read; empty if it can, or if there is none.

    The parser takes no defaults for lists of floating-point numbers, and few for enumerations.
    """
    plain = t.elem if isinstance(t, OptionalType) else t
    if (
        default is not None
        and isinstance(plain, BaseType)
        and default not in _READ_DEFAULTS.get(plain.name, (default,))
    ):
        return cpp.default_expr(default, plain, symint=False)
    if plain == BaseType(BaseTy.Scalar) and default is not None and default.endswith("j"):
        return cpp.default_expr(default, plain, symint=False)
    if default in (None, "None", "[]") or not (isinstance(t, ListType) and t.elem == FLOAT):
        return ""
    elements = default if default.startswith("[") else f"[{', '.join([default] * (t.size or 1))}]"
    return f"::std::vector<double>{cpp.default_expr(elements, t, symint=False)}"


_ELEMENTS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {BaseTy.int: "int64_t", BaseTy.SymInt: "c10::SymInt", BaseTy.float: "double"}
)
"""The C++ types of numbers in lists."""


def default_value(default: str | None, t: Type) -> str:
    """Return the C++ value of a default that isn't None; nothing if there is none."""
    plain = t.elem if isinstance(t, OptionalType) else t
    if default in (None, "None") or plain == TENSOR or default.startswith("torch."):
        return ""
    if not isinstance(plain, ListType):
        return cpp.default_expr(default, plain, symint=False)
    element = _ELEMENTS.get(plain.elem.name) if isinstance(plain.elem, BaseType) else None
    if element is None:
        return ""
    elements = default if default.startswith("[") else f"[{', '.join([default] * (plain.size or 1))}]"
    return f"::std::vector<{element}>{cpp.default_expr(elements, plain, symint=False)}"


# -------------------------------------------------------------------------------- values

_UNPACKERS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "tensor",
        BaseTy.Scalar: "scalar",
        BaseTy.int: "toInt64",
        BaseTy.DeviceIndex: "toInt64",
        BaseTy.SymInt: "toSymInt",
        BaseTy.float: "toDouble",
        BaseTy.bool: "toBool",
        BaseTy.str: "stringView",
        BaseTy.ScalarType: "scalartype",
        BaseTy.Layout: "layout",
        BaseTy.Device: "device",
        BaseTy.MemoryFormat: "memoryformat",
        BaseTy.Storage: "storage",
        BaseTy.Stream: "stream",
        BaseTy.Dimname: "dimname",
    }
)
"""The parser's method that returns a value of a type; optional types add the suffix `Optional`."""

_LIST_UNPACKERS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: "tensorlist",
        BaseTy.int: "intlist",
        BaseTy.SymInt: "symintlist",
        BaseTy.float: "doublelist",
        BaseTy.Scalar: "scalarlist",
        BaseTy.Dimname: "dimnamelist",
    }
)


_OPTIONAL_LISTS: Final = frozenset(map(BaseType, (BaseTy.int, BaseTy.SymInt, BaseTy.float, BaseTy.Dimname)))
"""The elements of lists that the parser returns as optional lists."""
_NEVER_OPTIONAL: Final = frozenset(map(BaseType, (BaseTy.Storage, BaseTy.Stream)))
"""Types that the parser never returns as optional values."""


def unpack_method(t: Type, default: str | None, *, has_init: bool = False) -> str:
    """Return the parser's method for the value of an argument; with `has_init`, C++ has a value for None."""
    if has_init:
        plain = t.elem if isinstance(t, OptionalType) else t
        return f"{_unpacker(plain)}WithDefault"
    if not isinstance(t, OptionalType):
        return _unpacker(t)
    if t.elem == BaseType(BaseTy.Generator):
        return "generator"
    if t.elem == TENSOR:
        return "optionalTensor"
    if isinstance(t.elem, ListType) and t.elem.elem == DIMNAME:
        return "toDimnameListOptional"
    return f"{_unpacker(t.elem)}Optional" if may_be_none(t, default) and has_optional_method(t) else _unpacker(t.elem)


def may_be_none(t: Type, default: str | None) -> bool:
    """Return whether the parser may have no value; an argument with a default always has one."""
    return isinstance(t, OptionalType) and default in (None, "None")


def has_optional_method(t: Type) -> bool:
    """Return whether the parser has a method that returns an optional `t`."""
    elem = t.elem if isinstance(t, OptionalType) else t
    return elem.elem in _OPTIONAL_LISTS if isinstance(elem, ListType) else elem not in _NEVER_OPTIONAL


def _unpacker(t: Type) -> str:
    if isinstance(t, BaseType) and t.name in _UNPACKERS:
        return _UNPACKERS[t.name]
    if isinstance(t, ListType):
        if t.elem == OptionalType(TENSOR):
            return "list_of_optional_tensors"
        if t.elem == TENSOR and t.size is not None:
            return f"tensorlist_n<{t.size}>"
        if isinstance(t.elem, BaseType) and t.elem.name in _LIST_UNPACKERS:
            return _LIST_UNPACKERS[t.elem.name]
    raise UnsupportedTypeError(t, "can't be given from Python")
