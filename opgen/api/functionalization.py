"""A view operator → the signatures that functionalization replays and inverts it with.

Functionalization keeps an object for each view, whose class can replay the view on another base
(`forward`) and write a mutated view back to its base (`reverse`).  The class has the operator's
arguments as attributes, and two more: whether to replay with the view or its `_copy` form, and what
kind of tensor the inverse may return.

    diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)

    class       diagonal_ViewMeta(has_symbolic_inputs, reapply_views, inverse_return_mode, offset, ...)
    forward     at::_ops::diagonal::call(base, offset, dim1, dim2)
    reverse     FunctionalInverses::diagonal_inverse(base, mutated_view, inverse_return_mode, offset, ...)
"""

from __future__ import annotations

from typing import Final

from opgen.api import dispatcher
from opgen.api.types import (
    BOOL,
    CONST_TENSOR,
    DEFAULT_POLICY,
    LONG,
    TENSOR,
    BaseCType,
    Binding,
    CType,
    NamedCType,
    TypePolicy,
    UnsupportedTypeError,
    inverseReturnModeT,
    render_decls,
)
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    NativeFunction,
    NativeFunctionsViewGroup,
    Type,
)

NAMESPACE: Final = "at::functionalization"
INVERSES: Final = f"{NAMESPACE}::FunctionalInverses"
"""The class of handwritten static functions that invert views."""

_TENSOR_TYPE: Final = BaseType(BaseTy.Tensor)
_BOOL_TYPE: Final = BaseType(BaseTy.bool)


def _parameter(name: str, ctype: CType, schema_type: Type) -> Binding:
    return Binding(name, NamedCType(name, ctype), Argument(name, schema_type, None, None))


BASE: Final = _parameter("base", CONST_TENSOR, _TENSOR_TYPE)
MUTATED_VIEW: Final = _parameter("mutated_view", CONST_TENSOR, _TENSOR_TYPE)
HAS_SYMBOLIC_INPUTS: Final = _parameter("has_symbolic_inputs", BOOL, _BOOL_TYPE)
REAPPLY_VIEWS: Final = _parameter("reapply_views", BOOL, _BOOL_TYPE)
INVERSE_RETURN_MODE: Final = _parameter("inverse_return_mode", BaseCType(inverseReturnModeT), _BOOL_TYPE)
OUT_INDEX: Final = _parameter("out_index", LONG, BaseType(BaseTy.int))


def classname(func: FunctionSchema, with_namespace: bool = False) -> str:
    """Return the name of the class that records one such view: `diagonal_ViewMeta`."""
    namespace = f"{NAMESPACE}::" if with_namespace else ""
    return f"{namespace}{func.name.unambiguous_name()}_ViewMeta"


def is_multi_output(func: FunctionSchema) -> bool:
    """Return whether the operator gives several views at once."""
    returns = func.returns
    return len(returns) > 1 or (len(returns) == 1 and returns[0].type.is_list_like() is not None)


def view_arguments(
    func: FunctionSchema, *, owning: bool = False, policy: TypePolicy = DEFAULT_POLICY
) -> tuple[Binding, ...]:
    """Return the parameters of the view other than the viewed tensor.

    With `owning`, lists of integers are vectors, for values that outlive the call.
    """
    base, *others = func.schema_order_arguments()
    if base.type != _TENSOR_TYPE:
        raise UnsupportedTypeError(base.type, "comes first, but a view is of a Tensor that comes first")
    return tuple([dispatcher.argument(a, policy=policy, remove_non_owning_ref_types=owning) for a in others])


def attributes(func: FunctionSchema, owning: bool = True, policy: TypePolicy = DEFAULT_POLICY) -> tuple[Binding, ...]:
    """Return the attributes of the class."""
    return (REAPPLY_VIEWS, INVERSE_RETURN_MODE, *view_arguments(func, owning=owning, policy=policy))


def base_ctor_arguments(func: FunctionSchema) -> tuple[Binding, ...]:
    """Return the constructor's parameters that the base class takes."""
    return (HAS_SYMBOLIC_INPUTS, OUT_INDEX) if is_multi_output(func) else (HAS_SYMBOLIC_INPUTS,)


def extra_ctor_arguments(func: FunctionSchema, policy: TypePolicy = DEFAULT_POLICY) -> tuple[Binding, ...]:
    """Return the constructor's other parameters: the class's attributes, as non-owning types."""
    return attributes(func, owning=False, policy=policy)


def op_arguments(func: FunctionSchema, is_reverse: bool, policy: TypePolicy = DEFAULT_POLICY) -> tuple[Binding, ...]:
    """Return the parameters of the function that takes the view, or of the one that inverts it."""
    others = view_arguments(func, policy=policy)
    if not is_reverse:
        return (BASE, *others)
    index = (OUT_INDEX,) if is_multi_output(func) else ()
    return (BASE, MUTATED_VIEW, INVERSE_RETURN_MODE, *index, *others)


def returns_type(func: FunctionSchema) -> CType:
    """Return what `forward` and `reverse` return: one tensor, also if the operator gives several."""
    del func
    return TENSOR


def forward_name(group: NativeFunctionsViewGroup, *, reapply_views: bool) -> str:
    """Return the function that replays the view, or its `_copy` form: `at::_ops::diagonal_copy::call`."""
    chosen = group.view if reapply_views else group.view_copy
    if chosen is None:
        raise ValueError(f"'{group.view.func.name}' has no copying form")
    return f"at::_ops::{chosen.func.name.unambiguous_name()}::call"


def reverse_name(function: NativeFunction, include_namespace: bool) -> str:
    """Return the function that inverts the view: `diagonal_inverse`, a member of `FunctionalInverses`."""
    stem = f"{function.func.name.unambiguous_name()}_inverse"
    return f"{INVERSES}::{stem}" if include_namespace else stem


@dataclass(frozen=True, slots=True)
class ViewInverseSignature:
    """The signature of the function, written by hand, that inverts a view."""

    name: str
    arguments: tuple[Binding, ...]

    @staticmethod
    def derive(group: NativeFunctionsViewGroup) -> ViewInverseSignature:
        """Return the signature of the inverse of `group`'s view."""
        return ViewInverseSignature(
            reverse_name(group.view, include_namespace=False), op_arguments(group.view.func, is_reverse=True)
        )

    def decl(self) -> str:
        """Return the declaration inside its class, without its semicolon: `static at::Tensor alias_inverse(...)`."""
        return f"static {TENSOR} {self.name}({render_decls(self.arguments)})"


@dataclass(frozen=True, slots=True)
class ViewMeta:
    """The parts of the class of one view operator."""

    func: FunctionSchema
    """The schema of the view, or of its in-place form."""
    classname: str
    """`diagonal_ViewMeta`"""
    is_multi_output: bool
    is_as_strided: bool
    """Whether it is `as_strided`, which functionalization handles separately."""
    base_ctor_arguments: tuple[Binding, ...]
    extra_ctor_arguments: tuple[Binding, ...]
    attributes: tuple[Binding, ...]
    forward_arguments: tuple[Binding, ...]
    """The arguments of the call in `forward`; `base` is its parameter, the others are attributes."""
    reverse_arguments: tuple[Binding, ...]
    """The arguments of the call in `reverse`; `base` and `mutated_view` are its parameters."""

    @staticmethod
    def derive(function: NativeFunction) -> ViewMeta:
        """Return the class of the view operator `function`."""
        func = function.func
        return ViewMeta(
            func,
            classname(func),
            is_multi_output(func),
            str(func.name) == "as_strided",
            base_ctor_arguments(func),
            extra_ctor_arguments(func),
            attributes(func),
            op_arguments(func, is_reverse=False),
            op_arguments(func, is_reverse=True),
        )
