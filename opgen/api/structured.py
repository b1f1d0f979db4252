"""A group of operators → the signatures of its structured kernel: the meta function and the impl.

A structured kernel never allocates: out tensors are `const Tensor &`, and optional values and lists
are non-owning references.  The meta function takes all arguments except out arguments; the impl takes
these with precomputed values substituted, then the out arguments.

    avg_pool2d.out(Tensor self, int[2] kernel_size, ..., *, Tensor(a!) out) -> Tensor(a!)
    precomputed: [kernel_size -> int kH, int kW, ...]

    meta(const at::Tensor & self, at::IntArrayRef kernel_size, ...)
    impl(const at::Tensor & self, int64_t kH, int64_t kW, ..., const at::Tensor & out)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.types import (
    CONST_SCALAR,
    CONST_TENSOR,
    I_OPT_TENSOR_LIST_REF,
    I_TENSOR_LIST_REF,
    INT_ARRAY_REF,
    OPTIONAL_INT_ARRAY_REF,
    OPTIONAL_SCALAR_REF,
    OPTIONAL_TENSOR_REF,
    TENSOR_LIST,
    ArgName,
    ArrayRefCType,
    Binding,
    CType,
    NamedCType,
    OptionalCType,
    UnsupportedTypeError,
    render_defns,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    ListType,
    NativeFunctionsGroup,
    OptionalType,
    SelfArgument,
    TensorOptionsArguments,
    Type,
)

_REFERENCES: Final = MappingProxyType({BaseTy.Tensor: CONST_TENSOR, BaseTy.Scalar: CONST_SCALAR})
_OPTIONALS: Final = MappingProxyType({BaseTy.Tensor: OPTIONAL_TENSOR_REF, BaseTy.Scalar: OPTIONAL_SCALAR_REF})
_LISTS: Final = MappingProxyType({BaseTy.Tensor: I_TENSOR_LIST_REF, BaseTy.int: INT_ARRAY_REF})


def argument_ctype(t: Type) -> CType:
    """Return the C++ type of a structured kernel's parameter for an argument of type `t`."""
    value = cpp.value_ctype(t)
    if value is not None:
        return value
    if isinstance(t, BaseType):
        return _REFERENCES[t.name]
    if isinstance(t, OptionalType):
        if isinstance(t.elem, ListType) and t.elem.elem in (BaseType(BaseTy.int), BaseType(BaseTy.SymInt)):
            return OPTIONAL_INT_ARRAY_REF
        if isinstance(t.elem, ListType) and t.elem.elem == BaseType(BaseTy.Tensor):
            return OptionalCType(TENSOR_LIST)  # an optional has no reference in it
        return _lookup(t.elem, _OPTIONALS) or OptionalCType(argument_ctype(t.elem))
    if isinstance(t, ListType):
        if t.elem == OptionalType(BaseType(BaseTy.Tensor)):
            return I_OPT_TENSOR_LIST_REF
        return _lookup(t.elem, _LISTS) or ArrayRefCType(argument_ctype(t.elem))
    raise UnsupportedTypeError(t, "has no C++ type")


def _lookup(elem: Type, by_base_type: Mapping[BaseTy, CType]) -> CType | None:
    return by_base_type.get(elem.name) if isinstance(elem, BaseType) else None


def argumenttype_type(t: Type, *, mutable: bool, binds: ArgName) -> NamedCType:
    """`argument_ctype` that carries the argument `binds`; `mutable` makes no difference."""
    del mutable
    return NamedCType(binds, argument_ctype(t))


def argument(a: Argument | SelfArgument | TensorOptionsArguments) -> Binding:
    """Return the parameter for `a`; a structured kernel takes no tensor options."""
    if isinstance(a, TensorOptionsArguments):
        raise UnsupportedTypeError(a.dtype.type, "belongs to tensor options, which a structured kernel can't take")
    plain = a.argument if isinstance(a, SelfArgument) else a
    return Binding(plain.name, NamedCType(plain.name, argument_ctype(plain.type)), plain)


def impl_arguments(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """Return the parameters of the impl function: with precomputed values, out arguments last."""
    arguments, precomputed = group.out.func.arguments, group.out.precomputed
    replaced = {} if precomputed is None else precomputed.replace
    parameters: list[Argument | SelfArgument | TensorOptionsArguments] = []
    for a in arguments.non_out:
        parameters += replaced.get(a.name, (a,)) if isinstance(a, Argument) else (a,)
    if precomputed is not None:
        parameters += precomputed.add
    parameters += arguments.out
    return tuple([argument(a) for a in parameters])


def meta_arguments(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """Return the parameters of the meta function."""
    return tuple([argument(a) for a in group.functional.func.arguments.non_out])


def out_arguments(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """Return the parameters for the out arguments."""
    return tuple([argument(a) for a in group.out.func.arguments.out])


@dataclass(frozen=True, slots=True)
class StructuredImplSignature:
    """The signature of a structured kernel's impl function."""

    name: str
    """The kernel's name in `TORCH_IMPL_FUNC`."""
    arguments: tuple[Binding, ...]

    @staticmethod
    def derive(group: NativeFunctionsGroup, name: str) -> StructuredImplSignature:
        """Return the signature of the kernel `name` of `group`."""
        return StructuredImplSignature(name, impl_arguments(group))

    def defn(self) -> str:
        """Return the head of the definition: `TORCH_IMPL_FUNC(add_out)(const at::Tensor & self, ...)`."""
        return f"TORCH_IMPL_FUNC({self.name})({render_defns(self.arguments)})"
