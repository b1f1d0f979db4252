"""The C++ type algebra: the C++ types and names of an operator's arguments.

A `CType` is a C++ type as a value; it knows its spelling.  A `NamedCType` adds the argument
that a value *carries* (such as `self`), so that `opgen.api.translate` can convert the arguments of one
calling convention to those of another.  A
`Binding` is a parameter in a C++ signature, and an `Expr` is a C++ expression of a `NamedCType`.
This module is independent of calling conventions, which are in `cpp`, `native`, `dispatcher` and others.

    >>> ConstRefCType(OptionalCType(BaseCType(tensorT))).cpp_type()
    'const ::std::optional<at::Tensor> &'
    >>> ConstRefCType(BaseCType(tensorT)).cpp_type(strip_ref=True)
    'at::Tensor'

Two `CType`s are equal if and only if C++ spells them the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import Enum, auto
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    NativeFunction,
    ScalarType,
    SelfArgument,
    TensorOptionsArguments,
    Type,
)


class UnsupportedTypeError(ValueError):
    """A calling convention has no C++ type for a schema's type; the message says which and why."""

    def __init__(self, type: Type, reason: str) -> None:
        super().__init__(f"type '{type}' {reason}")
        self.type = type
        self.reason = reason


class SpecialArgName(Enum):
    """Values that a C++ parameter may carry, other than arguments of the schema."""

    possibly_redundant_memory_format = auto()
    """A memory format next to a `TensorOptions`, which may have one too."""


ArgName: TypeAlias = str | SpecialArgName


@dataclass(frozen=True, slots=True)
class TypePolicy:
    """The choices of an operator about its C++ types, for all calling conventions."""

    use_const_ref_for_mutable_tensors: bool = False
    """Take a mutated tensor as `const Tensor &` instead of `Tensor &`."""
    use_ilistref_for_tensor_lists: bool = False
    """Take a list of tensors as `const ITensorListRef &` instead of `TensorList`."""
    owns_strings: bool = False
    """Return a string as `std::string`, not as a `string_view`."""
    is_boxed: bool = False
    """Types that the dispatcher passes through its boxed convention alone are legal; see `opgen.api.boxing`."""
    returns_values: bool = False
    """Return a mutated tensor as `Tensor`, since torch's boxed calls would return another argument."""

    @staticmethod
    def from_function(function: NativeFunction) -> TypePolicy:
        """Return the policy of `function`.

        Structured operators take tensor lists as `ITensorListRef`; operators outside of torch return owning values.
        """
        if function.func.is_lenient:
            is_const = function.use_const_ref_for_mutable_tensors
            returns_values = not _returns_references(function.func, is_const)
            return TypePolicy(is_const, function.part_of_structured_group, True, function.is_boxed, returns_values)
        if function.use_const_ref_for_mutable_tensors:
            return TypePolicy(True, function.part_of_structured_group)
        return STRUCTURED_POLICY if function.part_of_structured_group else DEFAULT_POLICY


def _returns_references(func: FunctionSchema, is_const: bool) -> bool:
    """Return whether torch's boxed calls return the aliased arguments correctly: the first one, or the last ones."""
    arguments, returned = func.arguments.flat_all, func.aliased_return_names()
    if not all(each.is_write and each.type == BaseType(BaseTy.Tensor) for each in func.returns):
        return False
    is_first = bool(arguments) and arguments[0].is_write and arguments[0].type == BaseType(BaseTy.Tensor)
    if len(returned) == 1 and (is_first or is_const):
        return is_first and returned == [arguments[0].name]
    last = [argument.name for argument in arguments[-len(returned) :] if argument.type == BaseType(BaseTy.Tensor)]
    return returned == last and not is_const


DEFAULT_POLICY: Final = TypePolicy()
STRUCTURED_POLICY: Final = TypePolicy(use_ilistref_for_tensor_lists=True)


@dataclass(frozen=True, slots=True)
class BaseCppType:
    """A named C++ type: a class, an enumeration, a builtin."""

    ns: str
    """The namespace, or an empty string."""
    name: str
    """The name within the namespace."""
    header: str = ""
    """The header that declares it, if the headers for `at::Tensor` don't."""

    def __str__(self) -> str:
        return f"{self.ns}::{self.name}" if self.ns else self.name


@dataclass(frozen=True, slots=True, eq=False)
class CType:
    """A C++ type, with its spelling."""

    spelled: str = field(init=False, repr=False)
    """The type as C++ spells it."""
    stripped: str = field(init=False, repr=False)
    """The same without an outer reference."""

    def cpp_type(self, *, strip_ref: bool = False) -> str:
        """Return the type as C++ spells it; with `strip_ref`, without an outer `const … &` or `&`."""
        return self.stripped if strip_ref else self.spelled

    def remove_const_ref(self) -> CType:
        """Return the type without references, inside templates too."""
        return self

    def __str__(self) -> str:
        return self.spelled

    def __eq__(self, other: object) -> bool:
        return self.spelled == other.spelled if isinstance(other, CType) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.spelled)

    def _spell(self, spelled: str, stripped: str | None = None) -> None:
        object.__setattr__(self, "spelled", spelled)
        object.__setattr__(self, "stripped", spelled if stripped is None else stripped)


@dataclass(frozen=True, slots=True, eq=False)
class BaseCType(CType):
    """`at::Tensor`"""

    type: BaseCppType

    def __post_init__(self) -> None:
        self._spell(str(self.type))


@dataclass(frozen=True, slots=True, eq=False)
class ConstRefCType(CType):
    """`const at::Tensor &`"""

    elem: CType

    def __post_init__(self) -> None:
        self._spell(f"const {self.elem.spelled} &", self.elem.stripped)

    def remove_const_ref(self) -> CType:
        return self.elem.remove_const_ref()


@dataclass(frozen=True, slots=True, eq=False)
class MutRefCType(CType):
    """`at::Tensor &`"""

    elem: CType

    def __post_init__(self) -> None:
        self._spell(f"{self.elem.spelled} &", self.elem.stripped)

    def remove_const_ref(self) -> CType:
        return self.elem.remove_const_ref()


@dataclass(frozen=True, slots=True, eq=False)
class OptionalCType(CType):
    """`::std::optional<at::Tensor>`"""

    elem: CType

    def __post_init__(self) -> None:
        self._spell(f"::std::optional<{self.elem.spelled}>")

    def remove_const_ref(self) -> CType:
        return OptionalCType(self.elem.remove_const_ref())


@dataclass(frozen=True, slots=True, eq=False)
class ListCType(CType):
    """`c10::List<at::Tensor>`"""

    elem: CType

    def __post_init__(self) -> None:
        self._spell(f"c10::List<{self.elem.spelled}>")

    def remove_const_ref(self) -> CType:
        return ListCType(self.elem.remove_const_ref())


@dataclass(frozen=True, slots=True, eq=False)
class ArrayRefCType(CType):
    """`at::ArrayRef<at::Tensor>`"""

    elem: CType

    def __post_init__(self) -> None:
        self._spell(f"at::ArrayRef<{self.elem.spelled}>")

    def remove_const_ref(self) -> CType:
        return ArrayRefCType(self.elem.remove_const_ref())


@dataclass(frozen=True, slots=True, eq=False)
class VectorCType(CType):
    """`::std::vector<at::Tensor>`"""

    elem: CType

    def __post_init__(self) -> None:
        self._spell(f"::std::vector<{self.elem.spelled}>")

    def remove_const_ref(self) -> CType:
        return VectorCType(self.elem.remove_const_ref())


@dataclass(frozen=True, slots=True, eq=False)
class VectorizedCType(CType):
    """`at::vec::Vectorized<scalar_t>`"""

    elem: BaseCType

    def __post_init__(self) -> None:
        self._spell(f"at::vec::Vectorized<{self.elem.spelled}>")


@dataclass(frozen=True, slots=True, eq=False)
class ArrayCType(CType):
    """`::std::array<bool,3>`"""

    elem: CType
    size: int

    def __post_init__(self) -> None:
        self._spell(f"::std::array<{self.elem.spelled},{self.size}>")

    def remove_const_ref(self) -> CType:
        return ArrayCType(self.elem.remove_const_ref(), self.size)


@dataclass(frozen=True, slots=True, eq=False)
class TupleCType(CType):
    """`::std::tuple<at::Tensor,at::Tensor>`"""

    elems: tuple[CType, ...]

    def __post_init__(self) -> None:
        self._spell(f"::std::tuple<{','.join([elem.spelled for elem in self.elems])}>")

    def remove_const_ref(self) -> CType:
        return TupleCType(tuple(elem.remove_const_ref() for elem in self.elems))


@dataclass(frozen=True, slots=True)
class NamedCType:
    """A C++ type, and the argument that a value of it carries."""

    name: ArgName
    """The argument that a value carries, whatever the parameter's name."""
    type: CType
    """Its C++ type."""

    def cpp_type(self, *, strip_ref: bool = False) -> str:
        """Return the type as C++ spells it; see `CType.cpp_type`."""
        return self.type.cpp_type(strip_ref=strip_ref)

    def remove_const_ref(self) -> NamedCType:
        """Return the same with no references in its type."""
        return NamedCType(self.name, self.type.remove_const_ref())

    def with_name(self, name: ArgName) -> NamedCType:
        """Return the same type, carrying `name`."""
        return NamedCType(name, self.type)


@dataclass(frozen=True, slots=True)
class Binding:
    """A parameter of a C++ function."""

    name: str
    """The parameter's name in C++."""
    nctype: NamedCType
    """Its type, and the argument of the operator that it carries."""
    argument: Argument | TensorOptionsArguments | SelfArgument
    """The argument of the schema that it comes from."""
    default: str | None = None
    """The C++ default; None if there is none."""

    @property
    def type(self) -> str:
        """The parameter's type as C++ spells it."""
        return self.nctype.type.spelled

    def decl(self, *, func_ptr_cast: bool = False) -> str:
        """Return the parameter of a declaration, `int64_t dim=0`; only the type with `func_ptr_cast`."""
        if func_ptr_cast:
            return self.nctype.type.spelled
        default = "" if self.default is None else f"={self.default}"
        return f"{self.nctype.type.spelled} {self.name}{default}"

    def defn(self) -> str:
        """Return the parameter of a definition, `int64_t dim`."""
        return f"{self.nctype.type.spelled} {self.name}"

    def no_default(self) -> Binding:
        """Return the same parameter without a default."""
        return Binding(self.name, self.nctype, self.argument)

    def with_name(self, name: str) -> Binding:
        """Return the same parameter under another name in C++."""
        return Binding(name, self.nctype, self.argument, self.default)


@dataclass(frozen=True, slots=True)
class Expr:
    """A C++ expression."""

    expr: str
    """The expression."""
    type: NamedCType
    """Its type, and the argument that it carries."""


# These don't call methods of bindings for speed, since they render all parameters of all functions.


def render_decls(bindings: Sequence[Binding]) -> str:
    """Render parameters of a declaration: `const at::Tensor & self, int64_t dim=0`."""
    return ", ".join(
        [
            f"{binding.nctype.type.spelled} {binding.name}"
            if binding.default is None
            else f"{binding.nctype.type.spelled} {binding.name}={binding.default}"
            for binding in bindings
        ]
    )


def render_defns(bindings: Sequence[Binding]) -> str:
    """Render parameters of a definition: `const at::Tensor & self, int64_t dim`."""
    return ", ".join([f"{binding.nctype.type.spelled} {binding.name}" for binding in bindings])


def render_types(bindings: Sequence[Binding]) -> str:
    """Render parameter types: `const at::Tensor &, int64_t`."""
    return ", ".join([binding.nctype.type.spelled for binding in bindings])


# C++ names in the types of operators.  `scalar_t` and `opmath_t` are template parameters
# that dispatch macros introduce, hence their spelling.
voidT: Final = BaseCppType("", "void")
boolT: Final = BaseCppType("", "bool")
byteT: Final = BaseCppType("", "uint8_t")
charT: Final = BaseCppType("", "int8_t")
shortT: Final = BaseCppType("", "int16_t")
int32T: Final = BaseCppType("", "int32_t")
longT: Final = BaseCppType("", "int64_t")
floatT: Final = BaseCppType("", "float")
doubleT: Final = BaseCppType("", "double")
halfT: Final = BaseCppType("at", "Half")
bfloat16T: Final = BaseCppType("at", "BFloat16")
complexHalfT: Final = BaseCppType("c10", "complex<c10::Half>")
complexFloatT: Final = BaseCppType("c10", "complex<float>")
complexDoubleT: Final = BaseCppType("c10", "complex<double>")
float8_e5m2T: Final = BaseCppType("at", "Float8_e5m2")
float8_e5m2fnuzT: Final = BaseCppType("at", "Float8_e5m2fnuz")
float8_e4m3fnT: Final = BaseCppType("at", "Float8_e4m3fn")
float8_e4m3fnuzT: Final = BaseCppType("at", "Float8_e4m3fnuz")
float8_e8m0fnuT: Final = BaseCppType("at", "Float8_e8m0fnu")
scalar_t: Final = BaseCppType("", "scalar_t")
opmath_t: Final = BaseCppType("", "opmath_t")

stringT: Final = BaseCppType("c10", "string_view")
generatorT: Final = BaseCppType("at", "Generator")
scalarTypeT: Final = BaseCppType("at", "ScalarType")
tensorT: Final = BaseCppType("at", "Tensor")
optionalTensorRefT: Final = BaseCppType("at", "OptionalTensorRef")
tensorListT: Final = BaseCppType("at", "TensorList")
iTensorListRefT: Final = BaseCppType("at", "ITensorListRef", header="ATen/core/IListRef.h")
iOptTensorListRefT: Final = BaseCppType("at", "IOptTensorListRef")
dimVectorT: Final = BaseCppType("at", "DimVector")
dimnameT: Final = BaseCppType("at", "Dimname")
dimnameListT: Final = BaseCppType("at", "DimnameList")
layoutT: Final = BaseCppType("at", "Layout")
deviceT: Final = BaseCppType("at", "Device")
deviceIndexT: Final = BaseCppType("at", "DeviceIndex")
scalarT: Final = BaseCppType("at", "Scalar")
optionalScalarRefT: Final = BaseCppType("at", "OptionalScalarRef")
memoryFormatT: Final = BaseCppType("at", "MemoryFormat")
qschemeT: Final = BaseCppType("at", "QScheme")
storageT: Final = BaseCppType("at", "Storage")
streamT: Final = BaseCppType("at", "Stream")
intArrayRefT: Final = BaseCppType("at", "IntArrayRef")
optionalIntArrayRefT: Final = BaseCppType("at", "OptionalIntArrayRef")
symIntArrayRefT: Final = BaseCppType("c10", "SymIntArrayRef")
optionalSymIntArrayRefT: Final = BaseCppType("at", "OptionalSymIntArrayRef")
tensorOptionsT: Final = BaseCppType("at", "TensorOptions")
tensorGeometryT: Final = BaseCppType("at", "TensorGeometry")
typeAndSizeT: Final = BaseCppType("torch::autograd::generated", "TypeAndSize")
inverseReturnModeT: Final = BaseCppType("at::functionalization", "InverseReturnMode")
SymIntT: Final = BaseCppType("c10", "SymInt")
SymBoolT: Final = BaseCppType("c10", "SymBool")

BASE_TYPE_TO_CPP: Final[Mapping[BaseTy, BaseCppType]] = MappingProxyType(
    {
        BaseTy.Generator: generatorT,
        BaseTy.ScalarType: scalarTypeT,
        BaseTy.Tensor: tensorT,
        BaseTy.int: longT,
        BaseTy.DimVector: dimVectorT,
        BaseTy.Dimname: dimnameT,
        BaseTy.float: doubleT,
        BaseTy.str: stringT,
        BaseTy.bool: boolT,
        BaseTy.Layout: layoutT,
        BaseTy.Device: deviceT,
        BaseTy.DeviceIndex: deviceIndexT,
        BaseTy.Scalar: scalarT,
        BaseTy.MemoryFormat: memoryFormatT,
        BaseTy.QScheme: qschemeT,
        BaseTy.Storage: storageT,
        BaseTy.Stream: streamT,
        BaseTy.SymInt: SymIntT,
        BaseTy.SymBool: SymBoolT,
    }
)
"""The C++ type that holds a value of each base type of a schema."""

SCALAR_TYPE_TO_CPP: Final[Mapping[ScalarType, BaseCppType]] = MappingProxyType(
    {
        ScalarType.Byte: byteT,
        ScalarType.Char: charT,
        ScalarType.Short: shortT,
        ScalarType.Int: int32T,
        ScalarType.Long: longT,
        ScalarType.Half: halfT,
        ScalarType.Float: floatT,
        ScalarType.Double: doubleT,
        ScalarType.ComplexHalf: complexHalfT,
        ScalarType.ComplexFloat: complexFloatT,
        ScalarType.ComplexDouble: complexDoubleT,
        ScalarType.Bool: boolT,
        ScalarType.BFloat16: bfloat16T,
        ScalarType.Float8_e5m2: float8_e5m2T,
        ScalarType.Float8_e5m2fnuz: float8_e5m2fnuzT,
        ScalarType.Float8_e4m3fn: float8_e4m3fnT,
        ScalarType.Float8_e4m3fnuz: float8_e4m3fnuzT,
        ScalarType.Float8_e8m0fnu: float8_e8m0fnuT,
    }
)
"""The C++ type of one element of a tensor of each scalar type."""

# The composed types that nearly every operator uses.
VOID: Final = BaseCType(voidT)
BOOL: Final = BaseCType(boolT)
LONG: Final = BaseCType(longT)
SYM_INT: Final = BaseCType(SymIntT)
STRING: Final = BaseCType(BaseCppType("::std", "string"))
TENSOR: Final = BaseCType(tensorT)
SCALAR: Final = BaseCType(scalarT)
CONST_TENSOR: Final = ConstRefCType(TENSOR)
MUTABLE_TENSOR: Final = MutRefCType(TENSOR)
OPTIONAL_TENSOR: Final = OptionalCType(TENSOR)
CONST_OPTIONAL_TENSOR: Final = ConstRefCType(OPTIONAL_TENSOR)
MUTABLE_OPTIONAL_TENSOR: Final = MutRefCType(OPTIONAL_TENSOR)
OPTIONAL_TENSOR_REF: Final = BaseCType(optionalTensorRefT)
CONST_SCALAR: Final = ConstRefCType(SCALAR)
OPTIONAL_SCALAR: Final = OptionalCType(SCALAR)
CONST_OPTIONAL_SCALAR: Final = ConstRefCType(OPTIONAL_SCALAR)
OPTIONAL_SCALAR_REF: Final = BaseCType(optionalScalarRefT)
INT_ARRAY_REF: Final = BaseCType(intArrayRefT)
OPTIONAL_INT_ARRAY_REF: Final = BaseCType(optionalIntArrayRefT)
SYM_INT_ARRAY_REF: Final = BaseCType(symIntArrayRefT)
OPTIONAL_SYM_INT_ARRAY_REF: Final = BaseCType(optionalSymIntArrayRefT)
LONG_VECTOR: Final = VectorCType(LONG)
SYM_INT_VECTOR: Final = VectorCType(SYM_INT)
TENSOR_LIST: Final = BaseCType(tensorListT)
DIMNAME_LIST: Final = BaseCType(dimnameListT)
I_TENSOR_LIST_REF: Final = ConstRefCType(BaseCType(iTensorListRefT))
I_OPT_TENSOR_LIST_REF: Final = BaseCType(iOptTensorListRefT)
OPTIONAL_TENSOR_LIST: Final = ConstRefCType(ListCType(OPTIONAL_TENSOR))
SCALAR_ARRAY_REF: Final = ArrayRefCType(SCALAR)
TENSOR_OPTIONS: Final = BaseCType(tensorOptionsT)

# Aliases with torchgen's names.
BaseTypeToCppMapping: Final = BASE_TYPE_TO_CPP
ScalarTypeToCppMapping: Final = SCALAR_TYPE_TO_CPP
