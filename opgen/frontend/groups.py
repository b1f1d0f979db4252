"""Sorts functions into the groups that emitters work on: forms of one operator, and views.

Forms belong together if their signatures are equal.  Nothing is derived here and nothing is
reported: that two forms of the same kind share a signature is one of the `rules`.

    abs, abs_, abs.out                 ->  NativeFunctionsGroup(functional=abs, inplace=abs_, out=abs.out)
    select.int, select_copy.int        ->  NativeFunctionsViewGroup(view=select.int, view_copy=select_copy.int)
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator

from opgen.model import (
    FunctionSchema,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    SchemaKind,
    ViewSchemaKind,
)

Forms = dict[SchemaKind, NativeFunction]
ViewForms = dict[ViewSchemaKind | SchemaKind, NativeFunction]


def signature_key(namespace: str, func: FunctionSchema) -> Hashable:
    """What functions of one group have in common, as a value that is cheap to compare."""
    return (namespace, func.signature_text())


def group_forms(functions: Iterable[NativeFunction]) -> dict[Hashable, Forms]:
    """The functions by signature and kind; of two that share both, the first stays."""
    found: dict[Hashable, Forms] = {}
    for function in functions:
        forms = found.setdefault(signature_key(function.namespace, function.func), {})
        forms.setdefault(function.func.kind(), function)
    return found


def group_functions(forms: Iterable[Forms]) -> Iterator[NativeFunction | NativeFunctionsGroup]:
    """Each set of forms as a group, or one by one where a functional or an out form lacks."""
    for kinds in forms:
        group = NativeFunctionsGroup.from_dict(kinds)
        if group is None:
            yield from kinds.values()
        else:
            yield group


def group_views(functions: Iterable[NativeFunction]) -> Iterator[NativeFunction | NativeFunctionsViewGroup]:
    """Views with their `_copy` and in-place forms, and all other functions as they are."""
    for kinds in view_forms(functions):
        yield from group_view(kinds)


def view_forms(functions: Iterable[NativeFunction]) -> Iterable[ViewForms]:
    """The functions that a view may be a group with, by kind; of two that share one, the first stays."""
    found: dict[Hashable, ViewForms] = {}
    for function in functions:
        key = (function.namespace, function.func.view_signature_text())
        kind: ViewSchemaKind | SchemaKind = function.view_schema_kind
        if kind is ViewSchemaKind.non_aliasing:
            kind = function.func.kind()
        found.setdefault(key, {}).setdefault(kind, function)
    return found.values()


def group_view(forms: ViewForms) -> Iterator[NativeFunction | NativeFunctionsViewGroup]:
    """A view's forms as one group, and what isn't among them as it is."""
    kinds = dict(forms)
    view = kinds.pop(ViewSchemaKind.aliasing, None)
    if view is not None:
        inplace = kinds.pop(ViewSchemaKind.aliasing_inplace, None)
        copy = kinds.pop(SchemaKind.functional, None)
        yield NativeFunctionsViewGroup(view, copy, inplace)
    yield from kinds.values()
