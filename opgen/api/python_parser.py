"""A type of a schema → its names in torch's argument parser and in stubs, and the parser's method for its value.

The parser has its own names for types and defaults, and a method for each kind of value.

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
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, ListType, OptionalType, Type

TENSOR: Final = BaseType(BaseTy.Tensor)
BOOL: Final = BaseType(BaseTy.bool)
FLOAT: Final = BaseType(BaseTy.float)
DIMNAME: Final = BaseType(BaseTy.Dimname)

STUB_NUMBER: Final = "Number | _complex"
STUB_SYMINT: Final = "_int | SymInt"


@dataclass(frozen=True, slots=True)
class _PythonType:
    """What Python calls a base type of schemas."""

    parser: str
    """The argument parser's name of it."""
    stub: str = ""
    """The type that stubs give arguments."""
    method: str = ""
    """The parser's method that returns a value; optional types add the suffix `Optional`."""
    list: str = ""
    """The parser's name of a list, if it is no `ArrayRef` of the element."""
    list_method: str = ""
    """The parser's method that returns a list."""
    imported: str = ""
    """What stubs import from torch for it."""


_TYPES: Final[Mapping[BaseTy, _PythonType]] = MappingProxyType(
    {
        BaseTy.Tensor: _PythonType("Tensor", "Tensor", "tensor", "TensorList", "tensorlist", imported="Tensor"),
        BaseTy.Scalar: _PythonType("Scalar", STUB_NUMBER, "scalar", "ScalarList", "scalarlist"),
        BaseTy.int: _PythonType("int64_t", "_int", "toInt64", "IntArrayRef", "intlist"),
        BaseTy.DeviceIndex: _PythonType("DeviceIndex", "_int", "toInt64"),
        BaseTy.SymInt: _PythonType(
            "SymInt", STUB_SYMINT, "toSymInt", "SymIntArrayRef", "symintlist", imported="SymInt"
        ),
        BaseTy.float: _PythonType("double", "_float", "toDouble", list_method="doublelist"),
        BaseTy.bool: _PythonType("bool", "_bool", "toBool"),
        BaseTy.str: _PythonType("c10::string_view", "str", "stringView"),
        BaseTy.ScalarType: _PythonType("ScalarType", "_dtype", "scalartype", imported="dtype as _dtype"),
        BaseTy.Layout: _PythonType("Layout", "_layout", "layout", imported="layout as _layout"),
        # A device may be given by name or as None.
        BaseTy.Device: _PythonType("Device", "DeviceLikeType | None", "device", imported="device as _device"),
        BaseTy.MemoryFormat: _PythonType("MemoryFormat", "memory_format", "memoryformat", imported="memory_format"),
        BaseTy.QScheme: _PythonType("QScheme", "_qscheme", imported="qscheme as _qscheme"),
        BaseTy.Generator: _PythonType("Generator", "Generator", imported="Generator"),
        BaseTy.Storage: _PythonType("Storage", "Storage | UntypedStorage", "storage", imported="UntypedStorage"),
        BaseTy.Stream: _PythonType("Stream", "Stream", "stream", imported="Stream"),
        BaseTy.Dimname: _PythonType("Dimname", "str | EllipsisType | None", "dimname", "DimnameList", "dimnamelist"),
    }
)
"""The types that can come from Python."""

STUB_TYPES: Final[Mapping[BaseTy, str]] = MappingProxyType({ty: each.stub for ty, each in _TYPES.items()})
"""The types that stubs give arguments, by the type in the schema."""
STUB_IMPORTS: Final = tuple(
    sorted({"contiguous_format", *(each.imported for each in _TYPES.values() if each.imported)}, key=str.lower)
)
"""What stubs import from torch: these types, and the names of defaults."""

# --------------------------------------------------------------------------------- types


def argument_type_str(t: Type, *, simple_type: bool = False) -> str:
    """Return the parser's spelling of `t`; with `simple_type`, without the size of a list."""
    if isinstance(t, BaseType):
        if t.name in _TYPES:
            return _TYPES[t.name].parser
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
    name = _TYPES[elem.name].list if elem.name in _TYPES else ""
    if not name:
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
    """Return the default in the parser's syntax."""
    if default[:1] in ("'", '"'):
        return cpp.default_expr(default, BaseType(BaseTy.str), symint=False)
    if default.startswith("[") and default != "[]" and t.is_list_like():
        # The parser starts the next argument after a space.
        return "{" + default[1:-1].replace(" ", "").replace("Mean", _MEAN) + "}"
    if default == "Mean" and t not in (BaseType(BaseTy.int), OptionalType(BaseType(BaseTy.int))):
        return _MEAN
    if "e" in default and _EXPONENT.fullmatch(default):
        return str(float(default))
    return _DEFAULT_WORDS.get(default, default)


_SUPPORTED_DEFAULTS: Final[Mapping[BaseTy, tuple[str, ...]]] = MappingProxyType(
    {
        BaseTy.ScalarType: ("None", "long"),
        BaseTy.Layout: ("None", "strided"),
        BaseTy.Device: ("None",),
    }
)
"""The only defaults of these types that the parser accepts."""


def unsupported_default(default: str | None, t: Type) -> str:
    """Return the C++ value of a default that the parser doesn't support; empty for other defaults, or without one.

    The parser supports no defaults for lists of floating-point numbers, and few for enumerations.
    """
    plain = t.elem if isinstance(t, OptionalType) else t
    if (
        default is not None
        and isinstance(plain, BaseType)
        and default not in _SUPPORTED_DEFAULTS.get(plain.name, (default,))
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
    method = ""
    if isinstance(t, BaseType) and t.name in _TYPES:
        method = _TYPES[t.name].method
    elif isinstance(t, ListType):
        if t.elem == OptionalType(TENSOR):
            return "list_of_optional_tensors"
        if t.elem == TENSOR and t.size is not None:
            return f"tensorlist_n<{t.size}>"
        if isinstance(t.elem, BaseType) and t.elem.name in _TYPES:
            method = _TYPES[t.elem.name].list_method
    if not method:
        raise UnsupportedTypeError(t, "can't be given from Python")
    return method
