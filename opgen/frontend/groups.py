"""Functions → the groups that emitters work on: forms of one operator, and views.

Forms with equal signatures are a group.  Nothing is derived or reported here: `rules` checks that two
forms of the same kind don't share a signature.

    abs, abs_, abs.out                 ->  NativeFunctionsGroup(functional=abs, inplace=abs_, out=abs.out)
    select.int, select_copy.int        ->  NativeFunctionsViewGroup(view=select.int, view_copy=select_copy.int)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator

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
    """Return the functions by signature and kind; if two share both, the first one."""
    groups: defaultdict[Hashable, Forms] = defaultdict(dict)
    add_forms(groups, functions)
    return groups


def add_forms(groups: defaultdict[Hashable, Forms], functions: Iterable[NativeFunction]) -> None:
    """Add functions to `groups`."""
    for function in functions:
        forms = groups[function.namespace, function.func.signature()]
        forms.setdefault(function.func.kind(), function)


def group_functions(forms: Iterable[Forms]) -> Iterator[NativeFunction | NativeFunctionsGroup]:
    """Yield the forms of each operator as a group, or one by one if the functional or out form is missing."""
    for kinds in forms:
        group = NativeFunctionsGroup.from_dict(kinds)
        yield from kinds.values() if group is None else (group,)


def group_views(functions: Iterable[NativeFunction]) -> Iterator[NativeFunction | NativeFunctionsViewGroup]:
    """Yield each view with its `_copy` and in-place forms as a group, and all other functions unchanged."""
    views: defaultdict[Hashable, ViewForms] = defaultdict(dict)
    for function in functions:
        key = (function.namespace, function.func.view_signature())
        kind = function.view_schema_kind if function.is_view_op else function.func.kind()
        views[key].setdefault(kind, function)
    for kinds in views.values():
        view = kinds.pop(ViewSchemaKind.aliasing, None)
        if view is not None:
            inplace = kinds.pop(ViewSchemaKind.aliasing_inplace, None)
            copy = kinds.pop(SchemaKind.functional, None)
            yield NativeFunctionsViewGroup(view, copy, inplace)
        yield from kinds.values()
