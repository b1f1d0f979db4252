"""Sorts functions into the groups that emitters work on: forms of one operator, and views.

Forms belong together if their signatures are equal.  Nothing is derived here and nothing is
reported: that two forms of the same kind share a signature is one of the `rules`.

    abs, abs_, abs.out                 ->  NativeFunctionsGroup(functional=abs, inplace=abs_, out=abs.out)
    select.int, select_copy.int        ->  NativeFunctionsViewGroup(view=select.int, view_copy=select_copy.int)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator

from opgen.model import (
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    SchemaKind,
    ViewSchemaKind,
)

Forms = dict[SchemaKind, NativeFunction]
ViewForms = dict[ViewSchemaKind | SchemaKind, NativeFunction]


def group_forms(functions: Iterable[NativeFunction]) -> defaultdict[Hashable, Forms]:
    """The functions by signature and kind; of two that share both, the first stays."""
    found: defaultdict[Hashable, Forms] = defaultdict(dict)
    add_forms(found, functions)
    return found


def add_forms(groups: defaultdict[Hashable, Forms], functions: Iterable[NativeFunction]) -> None:
    """Sorts more functions in."""
    for function in functions:
        forms = groups[function.namespace, function.func.signature_text()]
        forms.setdefault(function.func.kind(), function)


def group_functions(forms: Iterable[Forms]) -> Iterator[NativeFunction | NativeFunctionsGroup]:
    """Each set of forms as a group, or one by one where a functional or an out form lacks."""
    for kinds in forms:
        yield from group_function(kinds)


def group_function(forms: Forms) -> Collection[NativeFunction | NativeFunctionsGroup]:
    """The forms of one operator as a group, or one by one where a functional or an out form lacks."""
    group = NativeFunctionsGroup.from_dict(forms)
    return forms.values() if group is None else (group,)


def group_views(functions: Iterable[NativeFunction]) -> Iterator[NativeFunction | NativeFunctionsViewGroup]:
    """Views with their `_copy` and in-place forms, and all other functions as they are."""
    for kinds in view_forms(functions):
        yield from group_view(kinds)


def view_forms(functions: Iterable[NativeFunction]) -> Iterable[ViewForms]:
    """The functions that a view may be a group with, by kind; of two that share one, the first stays."""
    found: defaultdict[Hashable, ViewForms] = defaultdict(dict)
    for function in functions:
        key = (function.namespace, function.func.view_signature_text())
        kind = function.view_schema_kind if function.is_view_op else function.func.kind()
        found[key].setdefault(kind, function)
    return found.values()


def group_view(forms: ViewForms) -> Collection[NativeFunction | NativeFunctionsViewGroup]:
    """A view's forms as one group, and what isn't among them as it is."""
    if ViewSchemaKind.aliasing not in forms:
        return forms.values()
    kinds = dict(forms)
    view = kinds.pop(ViewSchemaKind.aliasing)
    inplace = kinds.pop(ViewSchemaKind.aliasing_inplace, None)
    copy = kinds.pop(SchemaKind.functional, None)
    return (NativeFunctionsViewGroup(view, copy, inplace), *kinds.values())
