"""Views → `ViewMetaClasses.h/.cpp` and `FunctionalInverses.h`: how each is replayed, and inverted.

For each view, functionalization keeps an object of the operator's class.  Its `forward` replays the view
on another base; its `reverse` writes a mutated view back to its base with a handwritten function of
`FunctionalInverses`, which is only declared.

    struct TORCH_API diagonal_ViewMeta : public ViewMeta {
      Tensor forward(const Tensor& base) override;
      Tensor reverse(const Tensor& base, const Tensor& mutated_view) override;
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from opgen.api.functionalization import NAMESPACE, reverse_name
from opgen.api.signatures import ViewMeta
from opgen.api.types import Binding, VectorCType, render_decls
from opgen.dest.kernel_calls import block
from opgen.dest.operator_includes import render_includes, view_and_copy
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, NativeFunctionsViewGroup
from opgen.output.files import OutputFile, unique
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_SNIPPETS: Final = Snippets("view_meta.cpp")

_HEADER: Final = "ViewMetaClasses.h"
_SOURCE: Final = "ViewMetaClasses.cpp"
_INVERSES: Final = "FunctionalInverses.h"


def emit_view_meta_classes(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `ViewMetaClasses.h` and `ViewMetaClasses.cpp`."""
    del options
    # Selective builds have no functionalization, so they need no classes.
    has_classes = program.selector.include_all_operators

    def render(group: NativeFunctionsViewGroup) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
        headers = tuple(render_includes(view_and_copy(group), ("_native", "_ops")))
        if group.composite or not has_classes:
            return headers, (), ()
        return headers, tuple(render_declarations(program, group)), tuple(render_implementations(program, group))

    parts = [render(group) for group in program.view_groups]
    declarations = [text for _, texts, _ in parts for text in texts]
    yield OutputFile(_HEADER, templates.render(_HEADER, {"view_meta_declarations": declarations}))
    headers = [header for found, _, _ in parts for header in found]
    env = {
        "op_headers": headers,
        "unique_op_headers": unique(headers),
        "view_meta_implementations": [text for _, _, texts in parts for text in texts],
    }
    yield OutputFile(_SOURCE, templates.render(_SOURCE, env))


def emit_functional_inverses(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `FunctionalInverses.h`."""
    del options
    groups = (group for group in program.view_groups if not group.composite)
    declarations = [f"{program.view_signatures(group).inverse.decl()};" for group in groups]
    yield OutputFile(_INVERSES, templates.render(_INVERSES, {"view_inverse_declarations": declarations}))


def _classes(program: Program, group: NativeFunctionsViewGroup) -> Iterator[ViewMeta]:
    """Yield the classes of a view: the in-place form has its own."""
    for function in group.functions(include_copy=False):
        yield program.signatures(function).view_meta


# ------------------------------------------------------------------------------- declarations


def render_declarations(program: Program, group: NativeFunctionsViewGroup) -> Iterator[str]:
    """Yield the definitions of a view's classes, without the code of their virtual members."""
    for view_meta in _classes(program, group):
        attributes = view_meta.attributes
        if program.release.views_own_values:
            attributes = tuple([replace(each, nctype=each.nctype.remove_const_ref()) for each in attributes])
        yield _render_class(view_meta, attributes)


def _render_class(view_meta: ViewMeta, attributes: Sequence[Binding]) -> str:
    parameters = (*view_meta.base_ctor_arguments, *view_meta.extra_ctor_arguments)
    return _SNIPPETS.render(
        "class",
        name=view_meta.classname,
        stored=[binding.type for binding in (*view_meta.base_ctor_arguments, *attributes)],
        elements=[f"std::get<{index}>(tpl)" for index in range(len(parameters))],
        parameters=render_decls(parameters),
        namespace=NAMESPACE,
        base_arguments=_base_arguments(view_meta),
        initializers=", ".join(_initializers(view_meta)),
        is_multi_output=view_meta.is_multi_output,
        names=_names(parameters),
        attributes=attributes,
    )


def _base_arguments(view_meta: ViewMeta) -> str:
    """Return the arguments for the base class's constructor."""
    many = view_meta.is_multi_output
    flags = (("is_multi_output", many), ("is_as_strided", view_meta.is_as_strided))
    spelled = [f"/*{name}=*/{'true' if flag else 'false'}" for name, flag in flags]
    return ", ".join(["has_symbolic_inputs", *spelled, f"/*out_index=*/{'out_index' if many else '0'}"])


def _initializers(view_meta: ViewMeta) -> Iterator[str]:
    """Yield the initializer of each attribute; a vector copies the list of its parameter."""
    for attribute, parameter in zip(view_meta.attributes, view_meta.extra_ctor_arguments, strict=True):
        is_vector = isinstance(attribute.nctype.type, VectorCType)
        yield f"{attribute.name}({parameter.name}{'.vec()' if is_vector else ''})"


def _names(bindings: Iterable[Binding]) -> str:
    return ", ".join([binding.name for binding in bindings])


# ---------------------------------------------------------------------------- implementations


def render_implementations(program: Program, group: NativeFunctionsViewGroup) -> Iterator[str]:
    """Yield the code of the virtual members of a view's classes."""
    for view_meta in _classes(program, group):
        yield _render_members(program, group, view_meta)
        if view_meta.is_multi_output:
            yield _render_to_out_index(view_meta)


def _render_members(program: Program, group: NativeFunctionsViewGroup, view_meta: ViewMeta) -> str:
    view, copy = group.view, group.view_copy or group.view
    return _SNIPPETS.render(
        "members",
        name=view_meta.classname,
        view=_render_replay(program, view_meta, view, copies=False),
        copy=_render_replay(program, view_meta, copy, copies=True),
        reverse_name=reverse_name(view, include_namespace=True),
        arguments=_names(view_meta.reverse_arguments),
    )


def _render_replay(program: Program, view_meta: ViewMeta, function: NativeFunction, *, copies: bool) -> str:
    """Return statements that replay the view with `function`, or its copy."""
    alone = _TAKEN_ALONE.get(str(view_meta.func.name)) if program.release.takes_one_view else None
    if alone is not None:
        name = alone.copy if copies else alone.view
        return block([*alone.statements, f"return at::_ops::{name}::call({alone.arguments});"], "    ")
    chosen = "[out_index]" if view_meta.is_multi_output else ""
    arguments = _names(view_meta.forward_arguments)
    return block([f"return at::_ops::{function.func.name.unambiguous_name()}::call({arguments}){chosen};"], "    ")


@dataclass(frozen=True, slots=True)
class _TakenAlone:
    """Return the call that computes one of several views."""

    statements: tuple[str, ...]
    view: str
    copy: str
    arguments: str


_TAKEN_ALONE: Final[Mapping[str, _TakenAlone]] = MappingProxyType(
    {
        "split.Tensor": _TakenAlone(
            ("auto start = split_size * out_index;",),
            "slice_Tensor",
            "slice_copy_Tensor",
            "base, dim, start, start + split_size, 1",
        ),
        "split_with_sizes": _TakenAlone(
            (
                "c10::SymInt start = 0;",
                "for (int64_t i = 0; i < out_index; ++i) {",
                "  start += split_sizes[i];",
                "}",
            ),
            "slice_Tensor",
            "slice_copy_Tensor",
            "base, dim, start, start + split_sizes[out_index], 1",
        ),
        "unbind.int": _TakenAlone((), "select_int", "select_copy_int", "base, dim, out_index"),
    }
)
"""Operators that return several views, each with the operator for a single view."""


def _render_to_out_index(view_meta: ViewMeta) -> str:
    """Return the member that makes the object for another view of the same call."""
    values = _names((*view_meta.base_ctor_arguments, *view_meta.extra_ctor_arguments))
    name = view_meta.classname
    return _SNIPPETS.render("to_out_index", namespace=NAMESPACE, name=name, values=values)
