"""Types of schemas → the C++ types of kernels in torch's stable ABI, and the releases of torch that can pass them.

    Tensor(a!) out    →  torch::stable::Tensor & out
    int[2] sizes      →  torch::headeronly::IntHeaderOnlyArrayRef sizes
    Scalar value      →  none: see `find_unsupported`

Parameters borrow values that torch keeps alive; results own their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, BaseTy, BaseType, FunctionSchema, ListType, OptionalType, Return, Type
from opgen.releases.release import Release

TENSOR: Final = "torch::stable::Tensor"
_INTEGER: Final = "int64_t"
_VALUES: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Tensor: TENSOR,
        BaseTy.int: _INTEGER,
        BaseTy.SymInt: _INTEGER,
        BaseTy.float: "double",
        BaseTy.bool: "bool",
        BaseTy.str: "std::string",
        BaseTy.ScalarType: "torch::headeronly::ScalarType",
        BaseTy.Layout: "torch::headeronly::Layout",
        BaseTy.MemoryFormat: "torch::headeronly::MemoryFormat",
        BaseTy.Device: "torch::stable::Device",
        BaseTy.Generator: "torch::stable::Generator",
    }
)
"""Types that own their values."""
_SHARED: Final = frozenset({BaseTy.Tensor, BaseTy.Generator})
"""Types that are passed by reference."""
_BOOLEANS: Final = "std::vector<bool>"

HEADERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        TENSOR: "torch/csrc/stable/tensor.h",
        "torch::stable::Device": "torch/csrc/stable/device.h",
        "torch::stable::Generator": "torch/csrc/stable/generator.h",
        "torch::headeronly::ScalarType": "torch/headeronly/core/ScalarType.h",
        "torch::headeronly::Layout": "torch/headeronly/core/Layout.h",
        "torch::headeronly::MemoryFormat": "torch/headeronly/core/MemoryFormat.h",
        "HeaderOnlyArrayRef": "torch/headeronly/util/HeaderOnlyArrayRef.h",
        "int64_t": "cstdint",
        "std::optional": "optional",
        "std::string": "string",
        "std::string_view": "string_view",
        "std::tuple": "tuple",
        "std::vector": "vector",
    }
)
"""The header of each type."""


def headers_of(declarations: Iterable[str]) -> list[str]:
    """Return the headers that declarations of kernels need."""
    text = "\n".join(declarations)
    return sorted({header for name, header in HEADERS.items() if name in text})


# ------------------------------------------------------------------------------------- C++ types


def parameter_type(argument: Argument) -> str:
    """Return the type of a kernel's parameter."""
    type = argument.type
    if argument.is_write and type == BaseType(BaseTy.Tensor):
        return f"{TENSOR} &"
    if isinstance(type, BaseType):
        if type.name is BaseTy.str:
            return "std::string_view"
        value = _VALUES[type.name]
        return f"const {value} &" if type.name in _SHARED else value
    if isinstance(type, ListType):
        return f"const {_BOOLEANS} &" if _is_of_booleans(type) else _array_ref(type)
    if isinstance(type, OptionalType) and isinstance(type.elem, ListType) and not _is_of_booleans(type.elem):
        return f"std::optional<{_array_ref(type.elem)}>"
    is_plain = isinstance(type, OptionalType) and isinstance(type.elem, BaseType) and _is_trivial(type.elem)
    return value_type(type) if is_plain else f"const {value_type(type)} &"


def value_type(type: Type) -> str:
    """Return the type that owns a value."""
    if isinstance(type, OptionalType):
        return f"std::optional<{value_type(type.elem)}>"
    if isinstance(type, ListType):
        return f"std::vector<{value_type(type.elem)}>"
    assert isinstance(type, BaseType)
    return _VALUES[type.name]


def _is_of_booleans(type: ListType) -> bool:
    # `std::vector<bool>` holds bits, which no array reference can refer to.
    return type.elem == BaseType(BaseTy.bool)


def _is_trivial(type: BaseType) -> bool:
    return type.name not in _SHARED and type.name is not BaseTy.str


def _array_ref(type: ListType) -> str:
    element = value_type(type.elem)
    if element == _INTEGER:
        return "torch::headeronly::IntHeaderOnlyArrayRef"
    return f"torch::headeronly::HeaderOnlyArrayRef<{element}>"


def kernel_result(func: FunctionSchema) -> str:
    """Return the return type of a kernel: mutated tensors as references, everything else by value."""
    return _joined([f"{TENSOR} &" if _is_written(r) else value_type(r.type) for r in func.returns])


def boxed_result(func: FunctionSchema) -> str:
    """Return the return type of a kernel's wrapper, which torch boxes: values."""
    return _joined([value_type(r.type) for r in func.returns])


def _is_written(returned: Return) -> bool:
    return returned.is_write and returned.type == BaseType(BaseTy.Tensor)


def _joined(types: Sequence[str]) -> str:
    return types[0] if len(types) == 1 else f"std::tuple<{', '.join(types)}>" if types else "void"


# -------------------------------------------------------------------------------------- releases


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The reason why the stable ABI of a release can't pass a type, and advice."""

    message: str
    advice: str


_REPLACEMENTS: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {BaseTy.Scalar: "write 'float' or 'int'", BaseTy.DeviceIndex: "write 'int'", BaseTy.SymBool: "write 'bool'"}
)
"""Advice for types that no release can pass."""


def find_unsupported(
    type: Type, release: Release, releases: Sequence[Release], *, is_result: bool
) -> Unsupported | None:
    """Return why the stable ABI of `release` can't pass a value of a type; None if it can.

    Args:
        type: The type of an argument or a result.
        release: The oldest release that the library supports.
        releases: All releases, oldest first.
        is_result: Whether the operator returns the value.
    """
    base = type.base_ty
    if is_result and _has_boolean_list(type):
        message = f"torch's stable ABI can't return the type '{type}'"
        return Unsupported(message, "no release of torch can: return an 'int[]' or a 'Tensor'")
    if base is not None and base in release.stable_types:
        return None
    newer = next((each for each in releases if base is not None and base in each.stable_types), None)
    if newer is not None:
        message = f"the stable ABI of torch {release.name} can't pass the type '{type}'"
        return Unsupported(message, f"torch {newer.name} is the oldest that can: write '--stable-abi {newer.name}'")
    replacement = _REPLACEMENTS.get(base) if base is not None else None
    message = f"torch's stable ABI can't pass the type '{type}'"
    return Unsupported(message, f"no release of torch can: {replacement or 'use another type'}")


def _has_boolean_list(type: Type) -> bool:
    if isinstance(type, ListType) and _is_of_booleans(type):
        return True
    return isinstance(type, (ListType, OptionalType)) and _has_boolean_list(type.elem)
