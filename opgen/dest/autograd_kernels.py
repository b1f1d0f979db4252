"""An operator → the common parts of its autograd kernels: name, parameters, results, views.

add.out   →   at::Tensor & add_out_out(c10::DispatchKeySet ks, …)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import NativeFunctionWithDifferentiabilityInfo, dispatch_strategy
from opgen.api.dispatcher import DispatcherSignature
from opgen.dest.autograd_home import is_of_torch
from opgen.model import Argument, NativeFunction, SchemaKind

_MANUAL_AUTOGRAD: Final = ("_fw_primal", "_make_dual", "copy_", "detach", "detach_", "resize_", "resize_as_")
"""Operators whose autograd kernels are handwritten."""
_NOT_TRACKED: Final = ("_sparse_broadcast_to", "lift_fresh")
"""Operators whose results share memory with their arguments, which autograd ignores."""
CHANGES_METADATA: Final = (
    "_conj",
    "_neg_view",
    "_nested_get_values",
    "_nested_view_from_buffer",
    "_nested_view_from_jagged",
    "view_as_complex",
    "view_as_real",
)
"""Views that strides and an offset don't describe: the view must be replayed to restore them."""


def kernel_name(function: NativeFunction) -> str:
    """Return the name of the function's kernels, within the namespace of each kind of kernel."""
    return with_overload(cpp.name(function.func), function)


def with_overload(cpp_name: str, function: NativeFunction) -> str:
    """Return `kernel_name`, given the C++ name of the function."""
    overload = function.func.name.overload_name
    return f"{cpp_name}_{overload}" if overload else cpp_name


def kernel_head(signature: DispatcherSignature, function: NativeFunction) -> str:
    """Return the head of a kernel's definition: with the remaining keys, and the operator's arguments."""
    return named_head(signature, kernel_name(function))


def named_head(signature: DispatcherSignature, name: str) -> str:
    """Return `kernel_head`, given the kernel's name."""
    parameters = [f"{argument.nctype.type.spelled} {argument.name}" for argument in signature.arguments]
    return f"{signature.returns.spelled} {name}({', '.join(['c10::DispatchKeySet ks', *parameters])})"


def base_name(function: NativeFunction) -> str:
    """Return the operator's name without overload; an in-place form keeps its underscore."""
    return function.root_name + ("_" if function.func.kind() is SchemaKind.inplace else "")


def returned_value(names: Sequence[str], kind: SchemaKind) -> str:
    """Return the expression that a kernel returns, given its results' names."""
    if len(names) == 1:
        return names[0]
    maker = "std::forward_as_tuple" if kind in (SchemaKind.inplace, SchemaKind.out) else "std::make_tuple"
    return f"{maker}({', '.join(names)})"


def is_tracked_view(function: NativeFunction) -> bool:
    """Return whether the result is a view of an argument, and autograd keeps track of that."""
    func = function.func
    is_view = function.is_view_op and func.kind() is SchemaKind.functional and len(func.returns) == 1
    return is_view and not _is_one_of(function, _NOT_TRACKED)


def is_view_family(function: NativeFunction) -> bool:
    """Return whether this is a tracked view, or its in-place form."""
    return is_tracked_view(function) or (function.is_view_op and not _is_one_of(function, (*_NOT_TRACKED, "set")))


def _is_one_of(function: NativeFunction, names: Sequence[str]) -> bool:
    return function.root_name in names and is_of_torch(function)


def is_handwritten(function: NativeFunction) -> bool:
    """Return whether torch has handwritten kernels for the operator."""
    return base_name(function) in _MANUAL_AUTOGRAD and is_of_torch(function)


def viewed_argument(function: NativeFunction) -> Argument:
    """Return the argument that a view is a view of."""
    shared = {name for r in function.func.returns if r.annotation for name in r.annotation.alias_set}
    arguments = function.func.arguments.flat_all
    aliased = (a for a in arguments if a.annotation and not shared.isdisjoint(a.annotation.alias_set))
    return next(aliased, arguments[0])


def view_class_name(function: NativeFunction) -> str:
    """Return the class that replays a view: `SliceTensorViewFunc` for `slice.Tensor`."""
    name = function.func.name.unambiguous_name()
    lead = "_" if name.startswith("_") else ""
    return f"{lead}{name.title().replace('_', '')}ViewFunc"


def writes_arguments(function: NativeFunction) -> bool:
    """Return whether this is an in-place or an out form."""
    return function.func.kind() in (SchemaKind.inplace, SchemaKind.out)


def has_derived_kernel(matched: NativeFunctionWithDifferentiabilityInfo) -> bool:
    """Return whether autograd calls the operator's kernels, rather than decomposing it."""
    # Called for every operator, so the slower lookup comes last.
    return matched.func.is_abstract or dispatch_strategy(matched) == "use_derived"
