"""The data model: frozen values for operators, groups of their forms, and the kernels of each backend.

The front end builds these values from YAML and checks them; everything after it only reads them.
The schema language is in `opgen.schema` and the dispatch keys in `opgen.dispatch_keys`; both are
re-exported here, so users of the model import this module only.

    - func: abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
      structured: True                                     ->  NativeFunction(func=…, structured=True)
      dispatch: {CPU, CUDA: abs_out}                       ->  BackendIndex(CPU).index[abs.out].kernel == "abs_out"
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from enum import Enum, auto
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import Span
from opgen.dispatch_keys import (
    BACKEND_COMPONENTS,
    FUNCTIONALITY_KEYS,
    STRUCTURED_DISPATCH_KEYS,
    TORCH_DISPATCH_KEYS,
    UFUNC_DISPATCH_KEYS,
    DispatchKey,
    is_cuda_dispatch_key,
    is_generic_dispatch_key,
    is_structured_dispatch_key,
    is_ufunc_dispatch_key,
    is_xpu_dispatch_key,
)
from opgen.frozen_dataclass import dataclass
from opgen.schema.arguments import Argument, Arguments, SelfArgument, TensorOptionsArguments
from opgen.schema.function_schema import FunctionSchema, SchemaKind
from opgen.schema.lexer import SchemaError
from opgen.schema.names import AUGMENTED_ASSIGNMENT_NAMES, BaseOperatorName, OperatorName
from opgen.schema.returns import Return, parse_returns
from opgen.schema.types import (
    Annotation,
    BaseTy,
    BaseType,
    CustomClassType,
    DictType,
    ListType,
    OptionalType,
    ScriptType,
    TupleType,
    Type,
)

__all__ = [
    "AUGMENTED_ASSIGNMENT_NAMES",
    "BACKEND_COMPONENTS",
    "DEFAULT_KERNEL_NAMESPACE",
    "DTYPE_CLASSES",
    "FRAGMENT_NAMESPACES",
    "FUNCTIONALITY_KEYS",
    "STRUCTURED_DISPATCH_KEYS",
    "UFUNC_DISPATCH_KEYS",
    "Annotation",
    "Argument",
    "Arguments",
    "BackendIndex",
    "BackendMetadata",
    "BaseOperatorName",
    "BaseTy",
    "BaseType",
    "CustomClassType",
    "DeviceCheckType",
    "DictType",
    "DispatchKey",
    "FunctionSchema",
    "ListType",
    "NativeFunction",
    "NativeFunctionsGroup",
    "NativeFunctionsViewGroup",
    "OperatorName",
    "OptionalType",
    "Precompute",
    "Return",
    "ScalarType",
    "SchemaError",
    "SchemaKind",
    "ScriptType",
    "SelfArgument",
    "TensorOptionsArguments",
    "TupleType",
    "Type",
    "UfuncInnerLoop",
    "UfuncKey",
    "Variant",
    "ViewSchemaKind",
    "dispatch_keys",
    "get_view_copy_name",
    "gets_generated_out_inplace_wrapper",
    "gets_generated_view_copy",
    "is_cuda_dispatch_key",
    "is_generic_dispatch_key",
    "is_structured_dispatch_key",
    "is_ufunc_dispatch_key",
    "is_xpu_dispatch_key",
    "parse_returns",
]

dispatch_keys: Final = TORCH_DISPATCH_KEYS
"""The dispatch keys that opgen generates code for, under torchgen's name."""

DEFAULT_KERNEL_NAMESPACE: Final = "at::native"
"""The C++ namespace of kernels whose name has none."""

FRAGMENT_NAMESPACES: Final = frozenset({"quantized", "quantized_decomposed"})
"""Libraries of torch that several files define together (`TORCH_LIBRARY_FRAGMENT`)."""


class ScalarType(Enum):
    """Element types of tensors, by their names in C++ (`at::ScalarType`)."""

    __hash__ = object.__hash__  # by identity, which runs no Python code

    Byte = auto()
    Char = auto()
    Short = auto()
    Int = auto()
    Long = auto()
    Half = auto()
    Float = auto()
    Double = auto()
    ComplexHalf = auto()
    ComplexFloat = auto()
    ComplexDouble = auto()
    Bool = auto()
    BFloat16 = auto()
    Float8_e5m2 = auto()
    Float8_e5m2fnuz = auto()
    Float8_e4m3fn = auto()
    Float8_e4m3fnuz = auto()
    Float8_e8m0fnu = auto()

    def __str__(self) -> str:
        return self.name


_INTEGRAL: Final = (ScalarType.Byte, ScalarType.Char, ScalarType.Int, ScalarType.Long, ScalarType.Short)
_FLOATING: Final = (ScalarType.Float, ScalarType.Double)
_COMPLEX: Final = (ScalarType.ComplexFloat, ScalarType.ComplexDouble)

DTYPE_CLASSES: Final[Mapping[str, tuple[ScalarType, ...]]] = MappingProxyType(
    {
        "Integral": _INTEGRAL,
        "Floating": _FLOATING,
        "Complex": _COMPLEX,
        "All": _INTEGRAL + _FLOATING,
        "AllAndComplex": _INTEGRAL + _FLOATING + _COMPLEX,
        "FloatingAndComplex": _FLOATING + _COMPLEX,
    }
)
"""Names of the sets of element types that a ufunc's inner loop may support."""


class UfuncKey(Enum):
    """The kernels of a ufunc that an inner loop is used in."""

    __hash__ = object.__hash__  # by identity, which runs no Python code

    CUDAFunctor = auto()
    CUDAFunctorOnOther = auto()
    CUDAFunctorOnSelf = auto()
    CPUScalar = auto()
    CPUVector = auto()
    ScalarOnly = auto()
    """CPU scalars and CUDA, for element types that have no vector form."""
    Generic = auto()
    """All of them."""

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class UfuncInnerLoop:
    """A function that computes one element, and the element types that it supports."""

    name: str
    """Name of the C++ template in the `ufunc` namespace."""
    supported_dtypes: tuple[ScalarType, ...]
    """In file order, with classes expanded and without duplicates."""
    ufunc_key: UfuncKey


class Variant(Enum):
    """A way to call an operator from C++."""

    __hash__ = object.__hash__  # by identity, which runs no Python code

    function = auto()
    method = auto()


class DeviceCheckType(Enum):
    """The check of tensors' devices before a kernel runs."""

    NoCheck = 0
    ExactSame = 1


class ViewSchemaKind(Enum):
    """Whether results share memory with arguments."""

    __hash__ = object.__hash__  # by identity, which runs no Python code

    aliasing = auto()
    aliasing_inplace = auto()
    non_aliasing = auto()


@dataclass(frozen=True, slots=True)
class Precompute:
    """Values that the meta function of a structured operator computes once for its kernels."""

    replace: Mapping[str, tuple[Argument, ...]]
    """For arguments of the schema, by name: the values that the kernel takes instead."""
    add: tuple[Argument, ...]
    """Values that the kernel takes in addition."""

    def added_and_replacing(self) -> tuple[Argument, ...]:
        """Return all precomputed values: the replacements in order, then the additions."""
        return tuple(a for replacing in self.replace.values() for a in replacing) + self.add


@dataclass(frozen=True, slots=True)
class NativeFunction:
    """One operator overload: an entry of `native_functions.yaml`, or one derived from an entry."""

    namespace: str
    """The library that the operator belongs to: `aten`, or the author's."""
    func: FunctionSchema
    """The schema, without the namespace."""
    use_const_ref_for_mutable_tensors: bool
    """Whether C++ functions take mutated tensors as `const Tensor &`."""
    device_guard: bool
    """Whether registrations set the current device to that of the tensors before the kernel runs."""
    device_check: DeviceCheckType
    python_module: str | None
    """The Python module below torch, such as `nn` or `fft`; None for torch itself."""
    category_override: str | None
    """`factory` or `dummy`: overrides the category that bindings infer from the schema."""
    variants: frozenset[Variant]
    manual_kernel_registration: bool
    """Whether the author registers the kernels; opgen generates no registrations."""
    manual_cpp_binding: bool
    """Whether the author writes the C++ function."""
    loc: Span
    """The location of the operator's name in the YAML file."""
    autogen: tuple[OperatorName, ...]
    """Operators to derive from this one."""
    ufunc_inner_loop: Mapping[UfuncKey, UfuncInnerLoop]
    structured: bool
    """Whether the kernel is a meta function and an impl function (out form only)."""
    structured_delegate: OperatorName | None
    """The out form whose structured kernels implement this one."""
    structured_inherits: str | None
    """The C++ class that the structured kernel's class derives from, if not `at::impl::MetaBase`."""
    precomputed: Precompute | None
    cpp_no_default_args: frozenset[str]
    """Arguments that have no default in C++, where it would make overloads ambiguous."""
    is_abstract: bool
    """Whether backends must provide the kernel, as there is no composite one."""
    has_composite_implicit_autograd_kernel: bool
    has_composite_implicit_autograd_nested_tensor_kernel: bool
    has_composite_explicit_autograd_kernel: bool
    has_composite_explicit_autograd_non_functional_kernel: bool
    tags: frozenset[str]
    """The tags of the entry, and those that opgen derives."""
    doc: str | None = None
    """The documentation of the operator."""
    is_boxed: bool = False
    """Whether kernels use the dispatcher's boxed calling convention, the only one that supports all of its types."""
    root_name: str = field(init=False, repr=False, compare=False)
    """The name without overload and the suffix of the form, shared by all forms and overloads."""
    is_view_op: bool = field(init=False, repr=False, compare=False)
    """Whether the operator is a view: a result aliases an argument that is not returned itself."""
    part_of_structured_group: bool = field(init=False, repr=False, compare=False)
    """Whether structured kernels implement it."""

    def __post_init__(self) -> None:
        # Computed once, since every emitter reads them.
        set_field = object.__setattr__
        set_field(self, "root_name", self.func.name.name.base)
        set_field(self, "is_view_op", _is_view(self.func, self.tags))
        set_field(self, "part_of_structured_group", self.structured or self.structured_delegate is not None)

    def __hash__(self) -> int:
        return hash(self.func.name.text)

    @property
    def qualified_name(self) -> str:
        """The name with its namespace: `aten::add.Tensor`."""
        return f"{self.namespace}::{self.func.name}"

    @property
    def has_composite_kernel(self) -> bool:
        """Whether there is a kernel for all backends."""
        return (
            self.has_composite_implicit_autograd_kernel
            or self.has_composite_explicit_autograd_kernel
            or self.has_composite_explicit_autograd_non_functional_kernel
        )

    @property
    def view_schema_kind(self) -> ViewSchemaKind:
        """Whether the operator is a view, and whether it changes `self` in place."""
        if not self.is_view_op:
            return ViewSchemaKind.non_aliasing
        return ViewSchemaKind.aliasing_inplace if "inplace_view" in self.tags else ViewSchemaKind.aliasing


_RESIZING: Final = ("resize_", "resize_as_")
"""Operators tagged `inplace_view` that change the storage and aren't views."""


def _is_view(func: FunctionSchema, tags: frozenset[str]) -> bool:
    for returned in func.returns:
        if returned.annotation is not None and not returned.is_write:
            return True
    if "inplace_view" in tags and func.name.text not in _RESIZING:
        return True
    annotations = func.arguments.annotations
    joined = [name for annotation in annotations for name in annotation.alias_set_after] if annotations else ()
    return "*" in joined  # the set of all memory


@dataclass(frozen=True, slots=True)
class NativeFunctionsGroup:
    """The forms of one operator that share a signature: at least a functional and an out form."""

    functional: NativeFunction
    inplace: NativeFunction | None
    mutable: NativeFunction | None
    out: NativeFunction

    def __hash__(self) -> int:
        return hash(self.functional)

    @property
    def structured(self) -> bool:
        """Whether structured kernels implement the group."""
        return self.out.structured

    def functions(self) -> Iterator[NativeFunction]:
        """Yield the forms that exist: functional, out, in-place, mutable."""
        yield self.functional
        yield self.out
        if self.inplace is not None:
            yield self.inplace
        if self.mutable is not None:
            yield self.mutable

    def signature(self) -> FunctionSchema:
        """Return the signature that all forms share."""
        return self.out.func.signature()

    @property
    def root_name(self) -> str:
        """The name that all forms share."""
        return self.functional.root_name

    @staticmethod
    def from_dict(forms: Mapping[SchemaKind, NativeFunction]) -> NativeFunctionsGroup | None:
        """Return the group of `forms`; None if the functional or out form is missing."""
        if SchemaKind.functional not in forms or SchemaKind.out not in forms:
            return None
        functional, out = forms[SchemaKind.functional], forms[SchemaKind.out]
        return NativeFunctionsGroup(functional, forms.get(SchemaKind.inplace), forms.get(SchemaKind.mutable), out)


@dataclass(frozen=True, slots=True)
class NativeFunctionsViewGroup:
    """A view operator, with its `_copy` form and its in-place form if they exist."""

    view: NativeFunction
    view_copy: NativeFunction | None
    view_inplace: NativeFunction | None

    def __hash__(self) -> int:
        return hash(self.view)

    def functions(self, *, include_copy: bool = True) -> Iterator[NativeFunction]:
        """Yield the forms that exist: view, in-place, copy."""
        yield self.view
        if self.view_inplace is not None:
            yield self.view_inplace
        if self.view_copy is not None and include_copy:
            yield self.view_copy

    @property
    def root_name(self) -> str:
        """The name that all forms share."""
        return self.view.root_name

    @property
    def composite(self) -> bool:
        """Whether the view is composite; functionalization then needs no code for it."""
        return self.view.has_composite_implicit_autograd_kernel


@dataclass(frozen=True, slots=True)
class BackendMetadata:
    """The kernel of one operator under one dispatch key."""

    kernel: str
    """Name of the C++ function, or of the structured kernel."""
    structured: bool
    cpp_namespace: str
    """The namespace that declares the kernel, such as `at::native`."""

    def supports_symint(self) -> bool:
        """Return whether the kernel takes `c10::SymInt`, according to its name."""
        return "_symint" in self.kernel


@dataclass(frozen=True, slots=True, eq=False)
class BackendIndex:
    """All kernels under one dispatch key."""

    dispatch_key: DispatchKey
    use_out_as_primary: bool
    """Whether out kernels implement the functional and in-place forms; else functional kernels implement the others."""
    device_guard: bool
    """Whether kernels need the device of their tensors to be current."""
    external: bool
    """Whether the backend is outside of torch's tree."""
    index: Mapping[OperatorName, BackendMetadata]

    def primary(self, g: NativeFunctionsGroup) -> NativeFunction:
        """Return the form of a group that this backend implements."""
        return g.out if self.use_out_as_primary else g.functional

    def get_kernel(self, g: NativeFunction | NativeFunctionsGroup) -> BackendMetadata | None:
        """Return the kernel of a function, or of a group's primary form; None if there is none."""
        function = g if isinstance(g, NativeFunction) else self.primary(g)
        return self.index.get(function.func.name)

    def has_kernel(self, g: NativeFunction | NativeFunctionsGroup) -> bool:
        """Return whether a function, or a group's primary form, has a kernel."""
        return self.get_kernel(g) is not None

    def native_function_class_name(self) -> str | None:
        """Return the C++ class that an external backend's kernels are members of; None for torch's own backends."""
        return f"{self.dispatch_key}NativeFunctions" if self.external else None


def get_view_copy_name(f: NativeFunction) -> OperatorName:
    """Return the name of the `_copy` form of a view operator."""
    view = f.func.name
    return OperatorName(BaseOperatorName(f"{view.name.base}_copy", False, view.name.dunder_method), view.overload_name)


def gets_generated_view_copy(f: NativeFunction) -> bool:
    """Return whether a `_copy` form is derived from `f`, unless the definitions have one."""
    is_inverse = f.func.name.name.base.endswith("_inverse")
    return (
        f.is_view_op
        and not f.has_composite_implicit_autograd_kernel
        and "inplace_view" not in f.tags
        and not is_inverse
    )


def gets_generated_out_inplace_wrapper(f: NativeFunction, g: NativeFunctionsGroup, b: BackendIndex) -> bool:
    """Return whether `f` is generated as a wrapper of the functional kernel, for a backend without out kernels."""
    return f.func.kind() is not SchemaKind.functional and not b.has_kernel(f) and b.has_kernel(g.functional)
