"""Operators → those with code in the static runtime, by name, and the unpacking of their arguments from IValues.

The static runtime reuses the outputs of a graph, so an operator must have an out form with one tensor, or be a
view.  Its arguments must be tensors, numbers, strings or optionals of these (lists aren't supported), and it
must have a kernel that works on the CPU.

    aten::clamp_max(Tensor self, Scalar max) -> Tensor      "aten::clamp_max" → the groups of both overloads
    Scalar max                                              → const auto max = p_node->Input(1).toScalar()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

from opgen.dest.static_runtime_names import HAND_WRITTEN, LEFT_OUT
from opgen.model import (
    BaseTy,
    BaseType,
    DispatchKey,
    FunctionSchema,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    OptionalType,
    Type,
)
from opgen.program.program import Program

Group: TypeAlias = NativeFunctionsGroup | NativeFunctionsViewGroup
G = TypeVar("G", NativeFunctionsGroup, NativeFunctionsViewGroup)

_TENSOR: Final = BaseType(BaseTy.Tensor)
_KEYS: Final = (
    DispatchKey.CPU,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
    DispatchKey.CompositeImplicitAutograd,
)
_CONVERSIONS: Final[Mapping[BaseTy, tuple[str, str]]] = MappingProxyType(
    {
        BaseTy.Tensor: ("toTensor()", "at::Tensor"),
        BaseTy.Scalar: ("toScalar()", "at::Scalar"),
        BaseTy.ScalarType: ("toScalarType()", "at::ScalarType"),
        BaseTy.int: ("toInt()", "int64_t"),
        BaseTy.bool: ("toBool()", "bool"),
        BaseTy.str: ("toStringView()", "c10::string_view"),
    }
)
"""The conversion of an IValue to each type, and the C++ type of an optional of it."""


def by_operator(program: Program, groups: Iterable[G]) -> Mapping[str, list[G]]:
    """Return the groups that get code, grouped by operator name."""
    by_name: dict[str, list[G]] = {}
    for group in groups:
        if is_supported(group) and _has_kernels(program, group):
            by_name.setdefault(qualified_name(group), []).append(group)
    return by_name


def kernel_of(program: Program, function: NativeFunction) -> str | None:
    """Return the C++ name of the CPU kernel: its own, or a composite one; None if there is none."""
    for key in _KEYS:
        index = program.backend_indices.get(key)
        kernel = None if index is None else index.get_kernel(function)
        if kernel is not None:
            return f"{kernel.cpp_namespace}::{kernel.kernel}"
    return None


def _namespace(group: Group) -> str:
    return group.functional.namespace if isinstance(group, NativeFunctionsGroup) else group.view.namespace


def qualified_schema(group: Group) -> str:
    """Return the schema that graphs call, with the library's name."""
    return f"{_namespace(group)}::{schema_of(group)}"


def qualified_name(group: Group) -> str:
    """Return the operator's name, with its library's and without the overload's: `aten::add`."""
    return f"{_namespace(group)}::{schema_of(group).name.name}"


def schema_of(group: Group) -> FunctionSchema:
    """Return the schema that graphs call: the form that returns its result."""
    return group.functional.func if isinstance(group, NativeFunctionsGroup) else group.view.func


def is_supported(group: Group) -> bool:
    """Return whether the static runtime supports these operators, by their names and signatures."""
    schema = schema_of(group)
    return (
        group.root_name not in HAND_WRITTEN
        and group.root_name not in LEFT_OUT
        and all(_is_convertible(argument.type) for argument in schema.schema_order_arguments())
        and tuple(returned.type for returned in schema.returns) == (_TENSOR,)
        and (isinstance(group, NativeFunctionsViewGroup) or _has_usable_out_form(group))
    )


def _has_usable_out_form(group: NativeFunctionsGroup) -> bool:
    # The C++ function of an out form has the base name, so only the overload `out` certainly has a kernel of that
    # name.  Structured kernels are called through `at::cpu`, which has overloads.
    is_plain = group.structured or group.out.func.name.overload_name == "out"
    return is_plain and not group.out.use_const_ref_for_mutable_tensors


def _has_kernels(program: Program, group: Group) -> bool:
    if isinstance(group, NativeFunctionsViewGroup):
        return kernel_of(program, group.view) is not None
    needed = (group.out,) if group.structured else (group.functional, group.out)
    return all(kernel_of(program, function) is not None for function in needed)


def _is_convertible(type: Type) -> bool:
    plain = type.elem if isinstance(type, OptionalType) else type
    return isinstance(plain, BaseType) and plain.name in _CONVERSIONS


def render_inputs(schema: FunctionSchema) -> Iterator[str]:
    """Yield the declaration of each argument, in order, with its value out of the node."""
    for index, argument in enumerate(schema.schema_order_arguments()):
        # A tensor in an IValue is taken by reference; other types are converted to values.
        auto = "const auto&" if argument.type == _TENSOR else "const auto"
        yield f"{auto} {argument.name} = p_node->Input({index}).{_conversion(argument.type)}"


def join_statements(statements: Iterable[str]) -> str:
    """Return the statements, one per line; an empty line if there are none, like torchgen."""
    return ";\n".join(statements) + ";"


def _conversion(type: Type) -> str:
    if isinstance(type, OptionalType):
        assert isinstance(type.elem, BaseType)
        return f"toOptional<{_CONVERSIONS[type.elem.name][1]}>()"
    assert isinstance(type, BaseType)
    return _CONVERSIONS[type.name][0]
