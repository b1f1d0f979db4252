"""Operators → those that the static runtime gets code for, by name, and how arguments are taken out of IValues.

The static runtime keeps the outputs of a graph and writes into them again.  So an operator is of use to it if
it has an out form that writes one tensor, or if it is a view.  Its arguments must be tensors, numbers, text or
optionals of these: there is no code for lists.  And it must have a kernel that serves the CPU.

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
"""How a value of each type is taken out of an IValue, and the C++ type of an optional of it."""


def by_operator(program: Program, groups: Iterable[G]) -> Mapping[str, list[G]]:
    """Return those of the program's groups that get code, the overloads of a name behind each other."""
    found: dict[str, list[G]] = {}
    for group in groups:
        if is_supported(group) and _has_kernels(program, group):
            found.setdefault(qualified_name(group), []).append(group)
    return found


def kernel_of(program: Program, function: NativeFunction) -> str | None:
    """Return the C++ name of the kernel that serves the CPU: its own, or a composite one; None if there is none."""
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
    """Return whether the static runtime can have code for these operators, by their names and signatures."""
    schema = schema_of(group)
    return (
        group.root_name not in HAND_WRITTEN
        and group.root_name not in LEFT_OUT
        and all(_is_convertible(argument.type) for argument in schema.schema_order_arguments())
        and tuple(returned.type for returned in schema.returns) == (_TENSOR,)
        and (isinstance(group, NativeFunctionsViewGroup) or _has_usable_out_form(group))
    )


def _has_usable_out_form(group: NativeFunctionsGroup) -> bool:
    # The C++ function of an out form is named after its base name, so that only one overload is sure to have a
    # kernel of that name: the one called `out`.  Structured kernels are called through `at::cpu`, by overload.
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
        # A tensor in an IValue can be referred to; anything else is made by the conversion.
        auto = "const auto&" if argument.type == _TENSOR else "const auto"
        yield f"{auto} {argument.name} = p_node->Input({index}).{_conversion(argument.type)}"


def join_statements(statements: Iterable[str]) -> str:
    """Return the statements, one a line; an empty one if there are none, as torchgen has it."""
    return ";\n".join(statements) + ";"


def _conversion(type: Type) -> str:
    if isinstance(type, OptionalType):
        assert isinstance(type.elem, BaseType)
        return f"toOptional<{_CONVERSIONS[type.elem.name][1]}>()"
    assert isinstance(type, BaseType)
    return _CONVERSIONS[type.name][0]
