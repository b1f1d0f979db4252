"""Types that only the boxed calling convention supports → their C++ types.

An operator with such a type is *boxed*: its kernels are called with values from a stack, so any type of `IValue` can be
an argument or a result.  Arguments and results are owning values.

    int[][]              c10::List<c10::List<int64_t>>; a std::vector of std::vectors as a result
    Dict(str, Tensor)    c10::Dict<::std::string, at::Tensor>
    (int, Tensor)        ::std::tuple<int64_t, at::Tensor>
    complex              c10::complex<double>
    Any, a class, …      c10::IValue

A `SymInt` inside such a type is always a `c10::SymInt`; lists of it are `std::vector`s, since `c10::List` can't hold
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from opgen.api.types import BASE_TYPE_TO_CPP, BaseCppType, BaseCType, CType
from opgen.schema.function_schema import FunctionSchema
from opgen.schema.types import BaseTy, BaseType, DictType, ListType, OptionalType, ScriptType, TupleType, Type

_VALUE: Final = "c10::IValue"
_OWNED: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        **{base: str(cpp) for base, cpp in BASE_TYPE_TO_CPP.items()},
        BaseTy.str: "::std::string",
        BaseTy.DeviceIndex: "int64_t",
    }
)


def owned_ctype(t: Type, list_type: str = "c10::List") -> CType:
    """Return the C++ type that owns a value of type `t`; its lists are of the class template `list_type`."""
    return BaseCType(BaseCppType("", _owned_text(t, list_type)))


def _owned_text(t: Type, list_type: str) -> str:
    if isinstance(t, BaseType):
        return _OWNED.get(t.name, _VALUE)
    if isinstance(t, ScriptType):
        return "c10::complex<double>" if t.name == "complex" else _VALUE
    if isinstance(t, OptionalType):
        elem = _owned_text(t.elem, list_type)
        return elem if elem == _VALUE else f"::std::optional<{elem}>"
    if isinstance(t, ListType):
        list_type = "::std::vector" if t.base_ty is BaseTy.SymInt else list_type
        return f"{list_type}<{_owned_text(t.elem, list_type)}>"
    if isinstance(t, DictType):
        return f"c10::Dict<{_owned_text(t.key, list_type)}, {_owned_text(t.value, list_type)}>"
    if isinstance(t, TupleType):
        return f"::std::tuple<{', '.join(_owned_text(each, list_type) for each in t.elements)}>"
    return _VALUE


# --------------------------------------------------------------------------------- who needs boxing

_NEVER_UNBOXED: Final = frozenset({BaseTy.DeviceIndex, BaseTy.DimVector, BaseTy.GraphModule})


def is_boxed(func: FunctionSchema) -> bool:
    """Return whether an operator with the schema `func` has a type that no other convention passes."""
    arguments = any(is_argument_boxed(a.type, is_write=a.is_write) for a in func.arguments.flat_all)
    return arguments or any(is_return_boxed(r.type) for r in func.returns)


def is_argument_boxed(t: Type, *, is_write: bool) -> bool:
    """Return whether an argument of type `t` reaches a kernel through the boxed convention alone."""
    if isinstance(t, OptionalType):
        if is_write or not isinstance(t.elem, ListType):
            return is_write or not _is_plain(t.elem, is_optional=True)
        return isinstance(t.elem.elem, OptionalType) or _is_list_boxed(t.elem)
    if isinstance(t, ListType):
        return _is_list_boxed(t) or (is_write and isinstance(t.elem, OptionalType))
    return not _is_plain(t)


def is_return_boxed(t: Type) -> bool:
    """Return whether a kernel returns a `t` through the boxed convention alone."""
    if isinstance(t, ListType):
        elem = t.elem
        is_number_or_bool = isinstance(elem, BaseType) and elem.name in (BaseTy.Scalar, BaseTy.bool, BaseTy.SymBool)
        return t.size is not None or is_number_or_bool or not _is_plain(elem)
    if isinstance(t, OptionalType):
        return t.base_ty is BaseTy.Scalar or not _is_plain(t.elem, is_optional=True)
    return not _is_plain(t)


def _is_list_boxed(t: ListType) -> bool:
    elem = t.elem
    if elem.base_ty is BaseTy.str:
        return True  # std::string_views would dangle
    if isinstance(elem, OptionalType):
        unlisted = (BaseTy.Scalar, BaseTy.SymInt, BaseTy.SymBool, BaseTy.Generator)
        return not _is_plain(elem.elem) or elem.base_ty in unlisted
    if isinstance(elem, BaseType) and elem.name is BaseTy.bool:
        return t.size is None
    return not _is_plain(elem) or elem.base_ty is BaseTy.SymBool


def _is_plain(t: Type, *, is_optional: bool = False) -> bool:
    """Return whether `t` is a base type; the dispatcher's generators are all optional."""
    if not isinstance(t, BaseType) or t.name in _NEVER_UNBOXED:
        return False
    return is_optional or t.name is not BaseTy.Generator
