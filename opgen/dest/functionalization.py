"""Mutating operators and views → `RegisterFunctionalization_0..3.cpp`, kernels without mutations and views.

`functionalization_kernels` has the kernels; this module selects the operators that get one, and those
whose kernel is registered.  Composite operators need none, since they are decomposed.  Composite views
are registered with their own kernels, since the dispatcher would report missing functionalization
kernels otherwise.

    m.impl("abs_", TORCH_FN(functionalization::abs_));
    m.impl("mT", static_cast<at::Tensor (*)(const at::Tensor & self)>(at::native::mT));
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Final, TypeAlias

from opgen.dest.functionalization_kernels import (
    kernel_name,
    render_inplace_view,
    render_mutation,
    render_view,
)
from opgen.dest.operator_includes import render_includes, view_and_copy
from opgen.model import (
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    SchemaKind,
)
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

Item: TypeAlias = NativeFunction | NativeFunctionsGroup | NativeFunctionsViewGroup

_TEMPLATE: Final = "RegisterFunctionalization.cpp"
_SHARDS: Final = 4
_LISTS: Final = ("ops_headers", "func_definitions", "func_registrations")
"""The template's lists that operators contribute to."""

_Part: TypeAlias = tuple[str, tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""An operator's root name, and its entries in each list."""

_HANDWRITTEN: Final = frozenset({"lift", "lift_fresh", "resize", "set.source_Tensor"})
"""Functional forms and views whose groups have handwritten kernels in torch."""


def emit_functionalization(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterFunctionalization_0.cpp` … `_3.cpp`, and the file with everything."""
    del options
    yield from emit_sharded(
        templates,
        _TEMPLATE,
        {},
        _parts(program),
        key=lambda part: part[0],
        item_env=lambda part: dict(zip(_LISTS, part[1:], strict=True)),
        shards=_SHARDS,
        sharded_keys=_LISTS,
    )


def _parts(program: Program) -> Iterator[_Part]:
    """Render the groups, then the views, then ungrouped functions."""
    groups, view_groups = program.groups, program.view_groups
    grouped = {function for group in groups for function in group.functions()}
    grouped.update(function for group in view_groups for function in group.functions())
    others = (function for function in program.functions if function not in grouped)
    items: Iterable[Item] = chain[Item](groups, view_groups, others)
    return (_render_item(program, item) for item in items)


def _render_item(program: Program, item: Item) -> _Part:
    """Return an operator's entries in its shard."""
    name, headers = item.root_name, tuple(render_includes(_included(item), ("_native", "_ops")))
    # Functionalization needs all operators, so selective builds don't have it.
    if isinstance(item, NativeFunction) or not program.selector.include_all_operators:
        return name, headers, (), ()
    if isinstance(item, NativeFunctionsGroup):
        definitions, registrations = _render_group(program, item)
    else:
        definitions, registrations = _render_view_group(program, item)
    return name, headers, tuple(definitions), tuple(registrations)


def _included(item: Item) -> Iterable[NativeFunction]:
    if isinstance(item, NativeFunction):
        return (item,)
    if isinstance(item, NativeFunctionsGroup):
        return item.functions()
    return view_and_copy(item)


def _render_group(program: Program, group: NativeFunctionsGroup) -> tuple[list[str], list[str]]:
    """Return kernels and registrations of the mutating forms."""
    functions = [function for function in group.functions() if function.func.kind() is not SchemaKind.functional]
    kernels = [render_mutation(program, function, group.functional) for function in functions]
    if str(group.functional.func.name) in _HANDWRITTEN:
        return kernels, []
    registered = (f for f in functions if not f.has_composite_implicit_autograd_kernel)
    return kernels, [_register(function) for function in registered if not _has_own_kernel(program, function)]


def _render_view_group(program: Program, group: NativeFunctionsViewGroup) -> tuple[list[str], list[str]]:
    """Return kernels and registrations of a view and its in-place form."""
    functions = list(group.functions(include_copy=False))
    authored = [function for function in functions if _has_own_kernel(program, function)]
    if group.composite:
        others = (function for function in functions if function not in authored)
        return [], [registration for function in others for registration in _register_composite(program, function)]
    kernels = [render_view(program, group)]
    if group.view_inplace is not None:
        kernels.append(render_inplace_view(program, group.view_inplace))
    if str(group.view.func.name) in _HANDWRITTEN:
        return kernels, []
    return kernels, [_register(function) for function in functions if function not in authored]


def _has_own_kernel(program: Program, function: NativeFunction) -> bool:
    """Return whether the author defines the kernel, so that none is generated."""
    return program.has_kernel(DispatchKey.Functionalize, function)


def _register(function: NativeFunction) -> str:
    return f'm.impl("{function.func.name}", TORCH_FN(functionalization::{kernel_name(function)}));'


def _register_composite(program: Program, function: NativeFunction) -> Iterator[str]:
    """Yield the registration of the view's composite kernel, if there is one."""
    index = program.backend_indices.get(DispatchKey.CompositeImplicitAutograd)
    kernel = index and index.get_kernel(function)
    if kernel:
        signatures = program.signatures(function)
        signature = signatures.native_symint if kernel.supports_symint() else signatures.native
        # The cast selects an overload.
        pointer = f"static_cast<{signature.ptr_type()}>({kernel.cpp_namespace}::{kernel.kernel})"
        yield f'm.impl("{function.func.name}", {pointer});'
