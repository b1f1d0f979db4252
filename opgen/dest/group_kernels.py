"""A group of operators and a dispatch key → the forms that get a kernel under the key, and of what kind.

An author defines a kernel for one form, from which others are generated.  A structured kernel implements
every form of its group, its meta function implements the Meta key, and both together implement
functional forms for any backend.  This module is the single source of truth for registrations, C++
functions and includes.

    abs, abs_, abs.out with "structured: True" and "CPU: abs_out"
    under CPU   →  all three are STRUCTURED
    under CompositeExplicitAutogradNonFunctional  →  abs and abs_ are STRUCTURED
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum, auto
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import (
    BackendIndex,
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    OperatorName,
    SchemaKind,
    gets_generated_out_inplace_wrapper,
)
from opgen.program.program import Program


class KernelKind(Enum):
    """The kind of kernel that a form has under a dispatch key."""

    KERNEL = auto()
    """Defined by the author."""
    STRUCTURED = auto()
    """Generated from the structured kernel of the group."""
    META_INPLACE = auto()
    """A kernel that does nothing: an in-place operator does not change a meta tensor."""
    FUNCTIONAL = auto()
    """A call of the functional form's kernel that copies its results, for a backend outside of torch."""


@dataclass(frozen=True, slots=True)
class GroupKernels:
    """The kernels of a dispatch key for a group of operators, or for a single operator."""

    index: BackendIndex
    group: NativeFunctionsGroup | None
    """None for an ungrouped operator."""
    forms: tuple[tuple[NativeFunction, KernelKind], ...]
    """At least one."""

    @property
    def first(self) -> NativeFunction:
        """One of the forms; all share the root name and the namespace."""
        return self.forms[0][0]

    @property
    def has_kernel(self) -> bool:
        """Whether the author defined any kernel under the key, including the group's meta function."""
        return any(kind is not KernelKind.META_INPLACE for _, kind in self.forms)


class KernelMap:
    """Finds the kernels of a dispatch key for the groups of a program, without visiting every group."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._places: dict[OperatorName, list[int]] = {}
        for position, item in enumerate(program.grouped):
            for form in item.functions() if isinstance(item, NativeFunctionsGroup) else (item,):
                self._places.setdefault(form.func.name, []).append(position)

    def groups_under(self, key: DispatchKey) -> Iterator[GroupKernels]:
        """Yield the groups that have kernels under `key`, in the program's order."""
        index, groups = index_for(self._program, key), self._program.grouped
        for position in range(len(groups)) if key in _ALWAYS_GENERATED_KEYS else self._named_in(index):
            item = groups[position]
            forms = tuple(implemented_forms(item, index))
            if forms:
                yield GroupKernels(index, item if isinstance(item, NativeFunctionsGroup) else None, forms)

    def _named_in(self, index: BackendIndex) -> list[int]:
        """Return the positions of the groups that have a kernel in `index`."""
        return sorted({position for name in index.index for position in self._places.get(name, ())})


_ALWAYS_GENERATED_KEYS: Final = (DispatchKey.Meta, DispatchKey.CompositeExplicitAutogradNonFunctional)
"""Keys whose structured kernels are always generated."""


def implemented_forms(
    item: NativeFunction | NativeFunctionsGroup, index: BackendIndex
) -> Iterator[tuple[NativeFunction, KernelKind]]:
    """Yield the forms with a kernel under the key of `index` that generated code registers."""
    if isinstance(item, NativeFunctionsGroup):
        if _is_structured_under(item, index):
            yield from _structured_forms(item, index)
            return
        group, forms = item, tuple(item.functions())
    else:
        group, forms = None, (item,)
    for form in forms:
        if form.manual_kernel_registration:
            continue
        if index.has_kernel(form):
            yield form, KernelKind.KERNEL
        elif group is not None and _is_made_of_functional(form, group, index):
            yield form, KernelKind.FUNCTIONAL
        elif index.dispatch_key is DispatchKey.Meta and _needs_no_meta(form):
            yield form, KernelKind.META_INPLACE


def _structured_forms(group: NativeFunctionsGroup, index: BackendIndex) -> Iterator[tuple[NativeFunction, KernelKind]]:
    """Return the forms that a structured kernel implements: all, or all but the out form that they call."""
    calls_out = index.dispatch_key is DispatchKey.CompositeExplicitAutogradNonFunctional
    for form in group.functions():
        if not (calls_out and form is group.out):
            yield form, KernelKind.STRUCTURED


def _is_structured_under(group: NativeFunctionsGroup, index: BackendIndex) -> bool:
    """Return whether structured kernels implement the group's forms under the key."""
    if not group.structured:
        return False
    if index.dispatch_key in _ALWAYS_GENERATED_KEYS:
        return True
    kernel = index.get_kernel(group)
    return kernel is not None and kernel.structured


def _is_made_of_functional(form: NativeFunction, group: NativeFunctionsGroup, index: BackendIndex) -> bool:
    """Return whether a backend with functional kernels can implement the form."""
    return not index.use_out_as_primary and gets_generated_out_inplace_wrapper(form, group, index)


def _needs_no_meta(form: NativeFunction) -> bool:
    """Return whether the meta kernel of an operator returns its `self` unchanged.

    A composite kernel takes precedence on meta tensors, since it checks its arguments.
    """
    func = form.func
    return func.kind() is SchemaKind.inplace and len(func.returns) == 1 and not form.has_composite_kernel


def index_for(program: Program, key: DispatchKey) -> BackendIndex:
    """Return the kernels under `key`; an index without any if no operator names the key."""
    return program.backend_indices.get(key) or BackendIndex(
        dispatch_key=key, use_out_as_primary=True, device_guard=False, external=False, index=FrozenMap()
    )
