"""A pointwise operator → the signatures of the functions that implement it.

A ufunc's author writes one C++ template that computes one element.  opgen generates a dispatch stub
(whose tensors are in the iterator), lambdas for single elements and for vectors on the CPU, and a
functor on CUDA, which is constructed with the values that are constant for all elements and applied to
the others.

    add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)

    stub        add_fn(TensorIteratorBase &, const at::Scalar & alpha)
    compute     add(scalar_t self, scalar_t other, scalar_t alpha)
    functor     ctor(opmath_t alpha), apply(scalar_t self, scalar_t other)
"""

from __future__ import annotations

from opgen.api import cpp
from opgen.api.types import (
    CONST_SCALAR,
    ArgName,
    BaseCppType,
    BaseCType,
    Binding,
    CType,
    NamedCType,
    UnsupportedTypeError,
    opmath_t,
    scalar_t,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    DispatchKey,
    FunctionSchema,
    NativeFunctionsGroup,
    Type,
)


def schema_kernel_name(func: FunctionSchema, dispatch_key: DispatchKey) -> str:
    """Return the name of the structured kernel of the out function `func` under a key: `ufunc_add_CPU`."""
    return f"ufunc_{func.name.name}_{dispatch_key}"


def kernel_name(group: NativeFunctionsGroup, dispatch_key: DispatchKey) -> str:
    """Return the name of the structured kernel of `group` under a key."""
    return schema_kernel_name(group.out.func, dispatch_key)


def opmath_type(scalar: BaseCppType) -> BaseCppType:
    """Return the type that elements of type `scalar` are computed in."""
    if scalar != scalar_t:
        raise ValueError(f"no type to compute '{scalar}' in")
    return opmath_t


def _is(t: Type, *wanted: BaseTy) -> bool:
    return isinstance(t, BaseType) and t.name in wanted


def _value(t: Type) -> CType:
    """Return the C++ type of an argument that is neither a tensor nor a scalar."""
    value = cpp.value_ctype(t)
    if value is None:
        raise UnsupportedTypeError(t, "can't be an argument of a ufunc")
    return value


def dispatchstub_type(t: Type, *, binds: ArgName) -> NamedCType | None:
    """Return the stub's parameter for an argument of type `t`; None for a tensor, which is in the iterator."""
    if _is(t, BaseTy.Tensor):
        return None
    return NamedCType(binds, CONST_SCALAR if _is(t, BaseTy.Scalar) else _value(t))


def ufunc_type(t: Type, *, binds: ArgName, compute_t: CType) -> NamedCType:
    """Return the parameter of the author's template, computing in `compute_t`."""
    return NamedCType(binds, compute_t if _is(t, BaseTy.Tensor, BaseTy.Scalar) else _value(t))


def ufunctor_ctor_type(t: Type, *, binds: ArgName, scalar_t: BaseCppType) -> NamedCType:
    """Return the parameter of the functor's constructor; tensors and scalars have the type to compute in."""
    return ufunc_type(t, binds=binds, compute_t=BaseCType(opmath_type(scalar_t)))


def ufunctor_apply_type(t: Type, *, binds: ArgName, scalar_t: BaseCppType) -> NamedCType:
    """Return the functor's parameter for an element of a tensor."""
    if not _is(t, BaseTy.Tensor):
        raise UnsupportedTypeError(t, "isn't a Tensor: only elements of tensors are applied to")
    return NamedCType(binds, BaseCType(scalar_t))


def stub_arguments(group: NativeFunctionsGroup) -> tuple[Binding, ...]:
    """Return the parameters of the dispatch stub after the iterator."""
    typed = ((a, dispatchstub_type(a.type, binds=a.name)) for a in group.out.func.arguments.flat_non_out)
    return tuple(Binding(a.name, nctype, a) for a, nctype in typed if nctype is not None)


def ufunc_arguments(group: NativeFunctionsGroup, *, compute_t: CType) -> tuple[Binding, ...]:
    """Return the parameters of the author's template, computing in `compute_t`."""
    return tuple(
        Binding(a.name, ufunc_type(a.type, binds=a.name, compute_t=compute_t), a)
        for a in group.out.func.arguments.flat_non_out
    )


@dataclass(frozen=True, slots=True)
class UfunctorBindings:
    """The parameters of a functor."""

    ctor: tuple[Binding, ...]
    """The values that are constant for all elements."""
    apply: tuple[Binding, ...]
    """The elements."""


def ufunctor_arguments(
    group: NativeFunctionsGroup, *, scalar_tensor_idx: int | None, scalar_t: BaseCppType
) -> UfunctorBindings:
    """Return the parameters of a functor; the tensor of that index, if any, is constant for all elements."""
    ctor: list[Binding] = []
    apply: list[Binding] = []
    tensors_seen = 0
    for a in group.out.func.arguments.flat_non_out:
        is_element = _is(a.type, BaseTy.Tensor)
        if is_element:
            is_element = tensors_seen != scalar_tensor_idx
            tensors_seen += 1
        (apply if is_element else ctor).append(_ufunctor_binding(a, is_element, scalar_t))
    return UfunctorBindings(tuple(ctor), tuple(apply))


def _ufunctor_binding(a: Argument, is_element: bool, scalar_t: BaseCppType) -> Binding:
    typed = ufunctor_apply_type if is_element else ufunctor_ctor_type
    return Binding(a.name, typed(a.type, binds=a.name, scalar_t=scalar_t), a)
