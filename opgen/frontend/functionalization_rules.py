"""Operators → a diagnostic for each reason why functionalization can't run one.

The rules are about groups, so they run only if a file has no other errors.

    ops.yaml:3:9: error: 'peek' is a view, but has no copy form [view-without-copy]
        3 | - func: peek(Tensor(a) self) -> Tensor(a)
          |         ^^^^ add an entry for 'peek_copy' with 'tags: view_copy'
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.diagnostics import Diagnostic, Note
from opgen.model import (
    BaseTy,
    BaseType,
    ListType,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    SchemaKind,
    Type,
    get_view_copy_name,
)
from opgen.releases.release import Release

_TENSOR: Final = BaseType(BaseTy.Tensor)


def check_functionalization(
    grouped: Iterable[NativeFunction | NativeFunctionsGroup],
    view_grouped: Iterable[NativeFunction | NativeFunctionsViewGroup],
    release: Release,
) -> Iterator[Diagnostic]:
    """Yield every violation of a rule in these groups."""
    view_forms: set[NativeFunction] = set()
    for view_group in view_grouped:
        if isinstance(view_group, NativeFunctionsViewGroup):
            view_forms.update(view_group.functions())
            if view_group.view.func.is_lenient and view_group.view_copy is None:
                continue  # functionalization raises torch's own error
            yield from _check_view_group(view_group)
    for group in grouped:
        if isinstance(group, NativeFunctionsGroup):
            yield from _check_derived(group)
            yield from _check_name_suffix(group.functional, release)
        elif group not in view_forms:
            yield from _check_name_suffix(group, release)
            yield from _check_ungrouped(group, release)


# ---------------------------------------------------------------------------------------- views


def _check_view_group(group: NativeFunctionsViewGroup) -> Iterator[Diagnostic]:
    yield from _check_composites(group)
    # A composite view is decomposed, so no rule applies.
    if not group.composite:
        yield from _check_view(group.view)
        yield from _check_copy(group)


def _check_composites(group: NativeFunctionsViewGroup) -> Iterator[Diagnostic]:
    view, inplace = group.view, group.view_inplace
    if inplace is not None and inplace.has_composite_implicit_autograd_kernel != group.composite:
        composite, other = (view, inplace) if group.composite else (inplace, view)
        message = f"'{composite.func.name}' is composite, but '{other.func.name}' is not"
        label = "a view and its in-place form must both have kernels under CompositeImplicitAutograd, or neither"
        yield Diagnostic("view-composite", message, other.loc, label, (Note("the other form is here", composite.loc),))


def _check_view(view: NativeFunction) -> Iterator[Diagnostic]:
    base, returns = next(iter(view.func.arguments.flat_all), None), view.func.returns
    if base is None or base.type != _TENSOR:
        problem = f"its first argument '{base.name}' is not a Tensor" if base is not None else "it has no arguments"
        message = f"'{view.func.name}' is a view, but {problem}"
        yield Diagnostic("view-base", message, view.loc, "the viewed Tensor must be the first argument")
    if len(returns) != 1 or not _is_tensor_or_list(returns[0].type):
        message = f"'{view.func.name}' is a view, but returns neither a Tensor nor a list of Tensors"
        label = "without 'dispatch' the view is composite, and may return anything"
        yield Diagnostic("view-returns", message, view.loc, label)


def _is_tensor_or_list(type: Type) -> bool:
    return type == _TENSOR or (isinstance(type, ListType) and type.elem == _TENSOR)


def _check_copy(group: NativeFunctionsViewGroup) -> Iterator[Diagnostic]:
    if group.view_copy is not None:
        return
    view = group.view
    copy = str(get_view_copy_name(view))
    if view.root_name.endswith("_inverse"):
        copy = copy.replace("_inverse_copy", "_scatter")
    message = f"'{view.func.name}' is a view, but has no copy form"
    yield Diagnostic("view-without-copy", message, view.loc, f"add an entry for '{copy}' with 'tags: view_copy'")


# ---------------------------------------------------------------------------------- other forms


def _check_derived(group: NativeFunctionsGroup) -> Iterator[Diagnostic]:
    """Check that no form is derived from one that mutates an optional argument."""
    derived = [form.func.name.text for form in (group.functional, group.out) if "generated" in form.tags]
    if not derived:
        return
    forms = (group.inplace, group.mutable, group.functional, group.out)
    origin = next((form for form in forms if form is not None and "generated" not in form.tags), None)
    if origin is None:
        return
    for argument in origin.func.arguments.flat_all:
        if argument.is_write and argument.type.is_nullable():
            message = f"'{origin.func.name}' writes to '{argument.name}', which may be None"
            label = f"write the entries of {' and '.join(derived)} yourself, or drop the '?'"
            yield Diagnostic("autogen-optional-write", message, origin.loc, label)


def _check_name_suffix(function: NativeFunction, release: Release) -> Iterator[Diagnostic]:
    """Check that the name of an ATen operator that mutates `self` ends in `_`, unless it is composite."""
    func = function.func
    if func.kind() is not SchemaKind.functional or not func.is_mutable or not _follows_aten_rules(function, release):
        return
    if not function.has_composite_implicit_autograd_kernel:
        message = f"'{func.name}' writes to 'self', but its name doesn't say so"
        label = f"call it '{func.name.name}_', so that it is the in-place form of '{func.name.name}'"
        yield Diagnostic("unmarked-write", message, function.loc, label)


def _follows_aten_rules(function: NativeFunction, release: Release) -> bool:
    """Return whether an operator must follow the rules of ATen, from which torch exempts some operators."""
    return function.namespace == "aten" and str(function.func.name) not in release.without_functional_form


def _check_ungrouped(function: NativeFunction, release: Release) -> Iterator[Diagnostic]:
    """Check that a mutating operator has a functional form, unless it is composite."""
    func = function.func
    is_composite = function.has_composite_implicit_autograd_kernel
    if not func.modifies_arguments or "generated" in function.tags or func.is_lenient:
        return
    if function.namespace == "aten" and not _follows_aten_rules(function, release):
        return
    if is_composite and not (function.namespace == "aten" and func.kind() is SchemaKind.mutable):
        return
    returned = [name for name in func.aliased_return_names() if name is not None]
    if func.kind() is SchemaKind.mutable and returned:
        message = f"'{func.name}' returns '{returned[0]}', which it writes to"
        yield Diagnostic("returned-write", message, function.loc, "remove it from the returns: callers already have it")
        return
    if is_composite:
        return
    message = f"'{func.name}' writes to its arguments, and has no functional form to call instead"
    yield Diagnostic("no-functional-form", message, function.loc, _suggest_forms(function))


def _suggest_forms(function: NativeFunction) -> str:
    func = function.func
    base, overload = func.name.name.base, func.name.overload_name
    if func.kind() is SchemaKind.out:
        return f"add an entry for '{base}' that returns what this writes to '{func.arguments.out[0].name}'"
    functional = f"{base}_functional" if func.kind() is SchemaKind.mutable else base
    if overload:
        return f"write 'autogen: {functional}.{overload}, {base}.{overload}_out'"
    return f"write 'autogen: {functional}, {base}.out'"
