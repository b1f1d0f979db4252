"""An operator's arguments on the interpreter's stack → the C++ values that its function takes.

TorchScript's interpreter keeps arguments as `c10::IValue`s on a stack.  A kernel converts
each of them to the type that the C++ function takes; for `int[] dim` of two arguments

    c10::IValue dim = std::move(peek(stack, 1, 2));
    std::vector<int64_t> dim_vec;
    const c10::List<c10::IValue> dim_list_in = dim.toList();
    for (c10::IValue dim_elem: dim_list_in) {
      int64_t dim_elem_base = dim_elem.to<int64_t>();
      dim_vec.push_back(dim_elem_base);
    }
    at::IntArrayRef dim_list_out(dim_vec);

The owner of the elements, `dim_vec`, is declared outside of all blocks, so that it outlives the call.
Integers are never symbolic on the interpreter's stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.api import cpp
from opgen.api.types import DEFAULT_POLICY, OPTIONAL_TENSOR_LIST, Binding, CType, NamedCType, TypePolicy
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, ListType, NativeFunction, OptionalType, Type

IVALUE: Final = "c10::IValue"
_BOOL: Final = BaseType(BaseTy.bool)


@dataclass(frozen=True, slots=True)
class Owner:
    """A variable that owns the data of a non-owning value."""

    type: str
    name: str

    @property
    def declaration(self) -> str:
        """The statement that declares it."""
        return f"{self.type} {self.name};"


@dataclass(frozen=True, slots=True)
class Unboxed:
    """The conversion of one `IValue` to a C++ value."""

    name: str
    """The variable that holds the C++ value."""
    ctype: CType
    """The type that the C++ function takes it as."""
    code: tuple[str, ...]
    """The statements that convert the `IValue`, line by line."""
    owners: tuple[Owner, ...] = ()
    """Declarations before them, which must outlive the value."""


def name(function: NativeFunction) -> str:
    """Return the name of the function that calls the operator with a stack: `add_Tensor`."""
    return function.func.name.unambiguous_name()


def convert_arguments(function: NativeFunction) -> tuple[list[Binding], list[str]]:
    """Return the arguments of the operator's C++ function, and the code that converts a stack to them.

    The bindings are in the order of the schema.
    """
    policy = TypePolicy.from_function(function)
    group = cpp.CppSignatureGroup.from_native_function(function, method=False)
    arguments = group.most_faithful_signature().arguments
    types = {argument.name: argument for argument in function.func.arguments.flat_all}
    code = [
        f"{IVALUE} {binding.name} = std::move(peek(stack, {index}, {len(arguments)}));"
        for index, binding in enumerate(arguments)
    ]
    bindings: list[Binding] = []
    for binding in arguments:
        argument = types[binding.name]
        unboxed = unbox(argument.type, binding.name, mutable=argument.is_write, policy=policy)
        code += [owner.declaration for owner in unboxed.owners]
        code += unboxed.code
        # The carried argument is that of the parameter: a memory format beside tensor options has a special name.
        nctype = NamedCType(binding.nctype.name, unboxed.ctype)
        bindings.append(Binding(unboxed.name, nctype, binding.argument))
    return bindings, code


def argumenttype_ivalue_convert(
    t: Type, arg_name: str, *, mutable: bool = False, policy: TypePolicy = DEFAULT_POLICY
) -> tuple[str, CType, list[str], list[str]]:
    """Return the result of `unbox` as torchgen returns it: variable, type, statements, declarations."""
    unboxed = unbox(t, arg_name, mutable=mutable, policy=policy)
    return unboxed.name, unboxed.ctype, list(unboxed.code), [owner.declaration for owner in unboxed.owners]


def unbox(t: Type, value: str, *, mutable: bool = False, policy: TypePolicy = DEFAULT_POLICY) -> Unboxed:
    """Return the conversion of the `IValue` named `value` to the parameter of an argument of type `t`."""
    ctype = cpp.argument_ctype(t, mutable=mutable, policy=policy)
    spelled = ctype.cpp_type(strip_ref=True)
    if isinstance(t, OptionalType):
        return _unbox_optional(t, value, ctype, unbox(t.elem, f"{value}_opt_in", mutable=mutable, policy=policy))
    if isinstance(t, ListType):
        if t.elem == _BOOL:
            return _unbox_array(t, value, ctype)
        return _unbox_list(value, ctype, unbox(t.elem, f"{value}_elem", mutable=mutable, policy=policy))
    result = f"{value}_base"
    return Unboxed(result, ctype, (f"{spelled} {result} = {value}.to<{spelled}>();",))


def _unbox_optional(t: OptionalType, value: str, ctype: CType, elem: Unboxed) -> Unboxed:
    spelled = ctype.cpp_type(strip_ref=True)
    optional, result = f"{value}_opt", f"{value}_opt_out"
    code = (
        f"auto {optional} = {value}.toOptional<{IVALUE}>();",
        f"{spelled} {result};",
        f"if ({optional}.has_value()) {{",
        f"  const {IVALUE} {optional}_in = {optional}.value();",
        *_indented(elem.code),
        f"  {result} = {spelled}({elem.name});",
        "} else {",
        f"  {result} = {spelled}();",
        "}",
    )
    return Unboxed(result, ctype, code, elem.owners)


def _unbox_array(t: ListType, value: str, ctype: CType) -> Unboxed:
    """Return a list of bools of known length, which is passed by value."""
    result = f"{value}_list_out"
    code = (
        f"const c10::List<{IVALUE}> {value}_list_in = {value}.toList();",
        f"{ctype} {result} = as_array<bool, {t.size}>({value}_list_in);",
    )
    return Unboxed(result, ctype, code)


def _unbox_list(value: str, ctype: CType, elem: Unboxed) -> Unboxed:
    """Return a list that refers to a vector; one of optional tensors owns its elements itself."""
    result, vector = f"{value}_list_out", f"{value}_vec"
    spelled = ctype.cpp_type(strip_ref=True)
    owns_elements = ctype == OPTIONAL_TENSOR_LIST
    lines = [f"const c10::List<{IVALUE}> {value}_list_in = {value}.toList();"]
    if owns_elements:
        lines.append(f"{spelled} {result};")
    lines += [
        f"for ({IVALUE} {value}_elem: {value}_list_in) {{",
        *_indented(owner.declaration for owner in elem.owners),
        *_indented(elem.code),
        f"  {result if owns_elements else vector}.push_back({elem.name});",
        # A moved vector keeps its buffer, so references to its elements remain valid.
        *(f"  {owner.name}_kept.push_back(std::move({owner.name}));" for owner in elem.owners),
        "}",
    ]
    owners = [Owner(f"std::vector<{kept.type}>", f"{kept.name}_kept") for kept in elem.owners]
    if not owns_elements:
        owners.append(Owner(f"std::vector<{elem.ctype.cpp_type(strip_ref=True)}>", vector))
        lines.append(f"{spelled} {result}({vector});")
    return Unboxed(result, ctype, tuple(lines), tuple(owners))


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)
