"""An operator → the functions with a C interface through which compiled models call it.

In C, a tensor is a handle, an optional value is a pointer that may be null, a list is a pointer and a
length, and results are written through pointers.  An argument added to an operator after the release
of its function gets a new function.

    cat(Tensor[] tensors, int dim=0) -> Tensor

    aoti_torch_cpu_cat(const AtenTensorHandle* tensors, int64_t tensors_len_, int64_t dim, AtenTensorHandle* ret0)
      calls at::cpu::cat with resolve_tensor_list_dispatch_flags(tensors, tensors_len_) and dim
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.types import UnsupportedTypeError
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OptionalType,
    Return,
    SchemaKind,
    Type,
)


@dataclass(frozen=True, slots=True)
class LaterArguments:
    """Arguments that were added after an operator's first C function was released."""

    names: frozenset[str]
    since: str
    """The macro of the torch release that first had the function with them."""


@dataclass(frozen=True, slots=True)
class ShimmedOperator:
    """An operator that has C functions."""

    function: NativeFunction
    since: str | None = None
    """The macro of the torch release that first had its function, such as `TORCH_VERSION_2_12_0`; None for any."""
    later_arguments: tuple[LaterArguments, ...] = ()
    """Oldest first; each adds a function."""
    null_results: bool = False
    """Whether callers may pass null for results that they don't need."""


@dataclass(frozen=True, slots=True)
class Shims:
    """The operators that have C functions."""

    any_device: tuple[ShimmedOperator, ...] = ()
    """Operators with one function, which calls the dispatcher."""
    per_device: tuple[ShimmedOperator, ...] = ()
    """Operators with a function for each device, which calls a kernel directly."""


NO_SHIMS: Final = Shims()


@dataclass(frozen=True, slots=True)
class CFunction:
    """One C function, and how it calls the operator."""

    name: str
    since: str | None
    parameters: tuple[str, ...]
    """Declarations of its parameters, those for results last."""
    arguments: tuple[str, ...]
    """C++ expressions of the operator's arguments, in the order of `at::` functions: out arguments first."""


@dataclass(frozen=True, slots=True)
class _Spelling:
    """How a base type is passed."""

    c: str
    """The C type."""
    cpp: str
    """The C++ type."""
    convert: str = "{}"
    """An expression of the C++ type for a C parameter."""


_INTEGER: Final = _Spelling("int64_t", "int64_t")
_BASE: Final[Mapping[BaseTy, _Spelling]] = MappingProxyType(
    {
        BaseTy.Tensor: _Spelling("AtenTensorHandle", "at::Tensor", "resolve_tensor_dispatch_flags({})"),
        BaseTy.Generator: _Spelling(
            "AtenGeneratorHandle", "at::Generator", "*generator_handle_to_generator_pointer({})"
        ),
        BaseTy.bool: _Spelling("int32_t", "bool"),
        BaseTy.int: _INTEGER,
        BaseTy.SymInt: _Spelling("int64_t", "c10::SymInt"),
        BaseTy.float: _Spelling("double", "double"),
        BaseTy.Scalar: _Spelling("double", "c10::Scalar"),
        BaseTy.str: _Spelling("const char*", "::std::string_view"),
        BaseTy.ScalarType: _Spelling("int32_t", "c10::ScalarType", "static_cast<c10::ScalarType>({})"),
        BaseTy.Layout: _Spelling("int32_t", "c10::Layout", "static_cast<c10::Layout>({})"),
        BaseTy.MemoryFormat: _Spelling("int32_t", "c10::MemoryFormat", "static_cast<c10::MemoryFormat>({})"),
        BaseTy.DeviceIndex: _Spelling("int32_t", "c10::DeviceIndex", "static_cast<c10::DeviceIndex>({})"),
    }
)
_NOT_IN_LISTS: Final = frozenset((BaseTy.Tensor, BaseTy.Generator, BaseTy.bool, BaseTy.str))
"""Base types whose lists are special or can't be passed."""
_RESULTS: Final = MappingProxyType(
    {
        BaseTy.Tensor: "new_tensor_handle(std::move({}))",
        BaseTy.SymInt: "{}.expect_int()",
        BaseTy.Scalar: "{}.toDouble()",
        BaseTy.int: "{}",
        BaseTy.float: "{}",
        BaseTy.bool: "{}",
    }
)
"""The C++ expressions stored in results."""


@dataclass(frozen=True, slots=True)
class CParameters:
    """The C parameters for an argument, and the C++ expression passed on."""

    parameters: tuple[str, ...]
    expr: str


def c_functions(operator: ShimmedOperator, device: str) -> Iterator[CFunction]:
    """Yield the operator's C functions for a device, the newest first."""
    func = operator.function.func
    stem = f"aoti_torch_{device}_{func.name.unambiguous_name()}"
    results = tuple(f"{_result_spelling(r).c}* ret{index}" for index, r in enumerate(own_results(func)))
    hidden: frozenset[str] = frozenset()
    for number in range(len(operator.later_arguments), -1, -1):
        later = operator.later_arguments[number - 1] if number else None
        taken = [_hidden(a) if a.name in hidden else argument(a) for a in _arguments(func)]
        yield CFunction(
            name=f"{stem}_v{number + 1}" if number else stem,
            since=later.since if later is not None else operator.since,
            parameters=(*(p for t in taken for p in t.parameters), *results),
            arguments=tuple(t.expr for t in taken),
        )
        hidden |= later.names if later is not None else frozenset()


def _arguments(func: FunctionSchema) -> tuple[Argument, ...]:
    return (*func.arguments.out, *func.arguments.flat_non_out)


def _hidden(a: Argument) -> CParameters:
    """Return an argument that the function does not take; the operator gets its default."""
    return CParameters((), cpp.default_expr(a.default or "", a.type, symint=True))


def argument(a: Argument) -> CParameters:
    """Return the C parameters for an argument.  Raises UnsupportedTypeError if C can't pass it."""
    t, name = a.type, a.name
    if isinstance(t, BaseType):
        return _base(t, name, a.is_write)
    if isinstance(t, OptionalType):
        return _optional(t, name, a.is_write)
    if isinstance(t, ListType):
        return _list(t, name, a.is_write)
    raise _unsupported(t)


def _unsupported(t: Type) -> UnsupportedTypeError:
    return UnsupportedTypeError(t, "can't be passed through a C interface")


def _base(t: BaseType, name: str, is_write: bool) -> CParameters:
    if is_write and t.name is BaseTy.Tensor:
        return CParameters((f"AtenTensorHandle {name}",), f"*tensor_handle_to_tensor_pointer({name})")
    if t.name is BaseTy.Device:
        kind, index = f"static_cast<c10::DeviceType>({name})", f"static_cast<c10::DeviceIndex>({name}_index_)"
        return CParameters((f"int32_t {name}", f"int32_t {name}_index_"), f"c10::Device({kind}, {index})")
    spelling = _spelling(t, t)
    return CParameters((f"{spelling.c} {name}",), spelling.convert.format(name))


def _spelling(t: Type, whole: Type) -> _Spelling:
    spelling = _BASE.get(t.name) if isinstance(t, BaseType) else None
    if spelling is None:
        raise _unsupported(whole)
    return spelling


def _element_spelling(t: Type, whole: Type) -> _Spelling:
    spelling = _spelling(t, whole)
    if isinstance(t, BaseType) and t.name in _NOT_IN_LISTS:
        raise _unsupported(whole)
    return spelling


def _optional(t: OptionalType, name: str, is_write: bool) -> CParameters:
    elem = t.elem
    if is_write:
        raise _unsupported(t)
    if isinstance(elem, ListType):
        spelling = _element_spelling(elem.elem, t)
        parameters = (f"const {spelling.c}** {name}", f"int64_t {name}_len_")
        return CParameters(parameters, f"pointer_to_optional_list<{spelling.cpp}>({name}, {name}_len_)")
    if elem == BaseType(BaseTy.Device):
        parameters = (f"int32_t* {name}", f"int32_t {name}_index_")
        return CParameters(parameters, f"pointer_to_optional_device({name}, {name}_index_)")
    spelling = _spelling(elem, t)
    is_tensor = elem == BaseType(BaseTy.Tensor)
    expr = spelling.convert.format(name) if is_tensor else f"pointer_to_optional<{spelling.cpp}>({name})"
    return CParameters((f"{spelling.c}* {name}",), expr)


def _list(t: ListType, name: str, is_write: bool) -> CParameters:
    if isinstance(t.elem, OptionalType):
        return _list_of_optional(t, t.elem.elem, name)
    length = f"int64_t {name}_len_"
    if t.elem == BaseType(BaseTy.Tensor):
        convert = "pointer_to_list<at::Tensor>" if is_write else "resolve_tensor_list_dispatch_flags"
        return CParameters((f"const AtenTensorHandle* {name}", length), f"{convert}({name}, {name}_len_)")
    if t.elem == BaseType(BaseTy.bool) and t.size is not None:
        # The length of such a list is static, but callers pass it too.
        return CParameters((f"const int32_t* {name}", length), f"pointer_to_list<{t.size}>({name})")
    spelling = _element_spelling(t.elem, t)
    return CParameters((f"const {spelling.c}* {name}", length), f"pointer_to_list<{spelling.cpp}>({name}, {name}_len_)")


def _list_of_optional(t: ListType, elem: Type, name: str) -> CParameters:
    length = f"int64_t {name}_len_"
    if elem == BaseType(BaseTy.Tensor):
        values = f"resolve_tensor_list_dispatch_flags({name}, {name}_len_)"
        optional = "::std::optional<at::Tensor>"
        expr = f"c10::List<{optional}>(c10::ArrayRef<{optional}>({values}))"
        return CParameters((f"const AtenTensorHandle** {name}", length), expr)
    spelling = _element_spelling(elem, t)
    expr = f"pointer_to_list<::std::optional<{spelling.cpp}>>({name}, {name}_len_)"
    return CParameters((f"const {spelling.c}** {name}", length), expr)


def own_results(func: FunctionSchema) -> tuple[Return, ...]:
    """Return the results that are not mutated arguments."""
    return () if func.kind() in (SchemaKind.inplace, SchemaKind.out) else func.returns


def _result_spelling(r: Return) -> _Spelling:
    if not isinstance(r.type, BaseType) or r.type.name not in _RESULTS:
        raise UnsupportedTypeError(r.type, "can't be returned through a C interface")
    return _BASE[r.type.name]


def result_exprs(func: FunctionSchema, value: str) -> Iterator[str]:
    """Yield the C++ expression stored for each result; `value` is the expression of the operator's return value."""
    results = own_results(func)
    for index, r in enumerate(results):
        one = value if len(results) == 1 else f"std::get<{index}>({value})"
        yield _RESULTS[r.type.name].format(one) if isinstance(r.type, BaseType) else one


def call_name(function: NativeFunction, namespace: str) -> str:
    """Return the C++ function to call: `at::cpu::sum`, `at::full_symint`."""
    return f"{namespace}::{cpp.name(function.func, symint_overload=function.func.has_symint())}"
