"""The types of MLX operators → their spellings in C++ and Python.

Type(Kind.ARRAY).cpp_parameter               "const mx::array&"
Type(Kind.FLOAT, optional=True).cpp_value    "std::optional<float>"
Type(Kind.ARRAY, is_list=True).python        "list[array]"
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Final

from opgen.frozen_dataclass import dataclass


class Kind(Enum):
    """The kind of a value: its name in C++, its C++ type, and its Python types, the preferred one first."""

    ARRAY = ("array", "mx::array", ("array",))
    INT = ("int", "int", ("int",))
    LONG = ("int64_t", "int64_t", ("int",))
    FLOAT = ("float", "float", ("float",))
    DOUBLE = ("double", "double", ("float",))
    BOOL = ("bool", "bool", ("bool",))
    STRING = ("string", "std::string", ("str",))
    SHAPE = ("Shape", "mx::Shape", ("Sequence[int]", "list[int]", "tuple[int,...]", "Shape"))
    DTYPE = ("Dtype", "mx::Dtype", ("Dtype",))
    STREAM = ("StreamOrDevice", "mx::StreamOrDevice", ("Stream|Device|None", "Stream|Device", "StreamOrDevice"))

    def __init__(self, word: str, cpp: str, python: tuple[str, ...]) -> None:
        """`word` is the name without namespace; the spellings of `python` have no spaces."""
        self.word = word
        self.cpp = cpp
        self.python = python


WORDS: Final[Mapping[str, Kind]] = MappingProxyType({kind.word: kind for kind in Kind})
"""Each kind by its name in C++."""

_BY_REFERENCE: Final = frozenset({Kind.ARRAY, Kind.STRING, Kind.SHAPE})


@dataclass(frozen=True, slots=True)
class Type:
    """The type of an argument."""

    kind: Kind
    optional: bool = False
    """Whether it may be None."""
    is_list: bool = False
    """Whether it is a list of values: of arrays or of integers."""

    @property
    def is_array(self) -> bool:
        """Whether values are arrays or lists of arrays, to which gradients and `vmap` apply."""
        return self.kind is Kind.ARRAY

    @property
    def cpp_value(self) -> str:
        """The C++ type of a value."""
        if self.is_list:
            return f"std::vector<{self.kind.cpp}>"
        return f"std::optional<{self.kind.cpp}>" if self.optional else self.kind.cpp

    @property
    def cpp_parameter(self) -> str:
        """The C++ type of a parameter."""
        by_reference = self.is_list or self.kind in _BY_REFERENCE
        return f"const {self.cpp_value}&" if by_reference else self.cpp_value

    @property
    def python_spellings(self) -> tuple[str, ...]:
        """The Python spellings of this type, without spaces; the first is shown to users."""
        words = self.kind.python
        if self.is_list:
            return tuple(f"{container}[{word}]" for word in words for container in ("list", "Sequence"))
        if not self.optional:
            return words
        return tuple(spelled for word in words for spelled in (f"{word}|None", f"Optional[{word}]", f"None|{word}"))

    @property
    def python(self) -> str:
        """The Python type, as shown to users."""
        return self.python_spellings[0].replace("|", " | ").replace(",", ", ")

    def __str__(self) -> str:
        return self.cpp_value.replace("mx::", "").replace("std::", "")


ELEMENT_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bool_": "bool",
        "uint8": "uint8_t",
        "uint16": "uint16_t",
        "uint32": "uint32_t",
        "uint64": "uint64_t",
        "int8": "int8_t",
        "int16": "int16_t",
        "int32": "int32_t",
        "int64": "int64_t",
        "float16": "mx::float16_t",
        "float32": "float",
        "float64": "double",
        "bfloat16": "mx::bfloat16_t",
        "complex64": "mx::complex64_t",
    }
)
"""Each dtype of MLX, and the C++ type of its elements."""

METAL_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bool_": "bool",
        "uint8": "uchar",
        "uint16": "ushort",
        "uint32": "uint",
        "uint64": "ulong",
        "int8": "char",
        "int16": "short",
        "int32": "int",
        "int64": "long",
        "float16": "half",
        "float32": "float",
        "bfloat16": "bfloat",
    }
)
"""The dtypes that Metal supports, and its type of their elements."""

_INTEGERS: Final = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
_FLOATING: Final = ("float16", "bfloat16", "float32", "float64")
DTYPE_SETS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "floating": _FLOATING,
        "integer": _INTEGERS,
        "numeric": (*_INTEGERS, *_FLOATING),
        "real": ("bool_", *_INTEGERS, *_FLOATING),
        "inexact": (*_FLOATING, "complex64"),
        "all": ("bool_", *_INTEGERS, *_FLOATING, "complex64"),
    }
)
"""Words for several dtypes."""
