"""Derived forms → `CompositeViewCopyKernels.cpp`, their generated kernels.

There are three kinds: the `_copy` form of a view copies the view; a functional form copies the mutated
arguments of the form that it was derived from; an out form copies the results of the functional form.

    at::Tensor diagonal_copy(const at::Tensor & self, int64_t offset, int64_t dim1, int64_t dim2) {
      auto output = at::_ops::diagonal::call(self, offset, dim1, dim2);
      return output.clone(/*memory_format=*/at::MemoryFormat::Contiguous);
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from opgen.api.functionalization import is_multi_output
from opgen.api.signatures import DispatcherSignature, NativeSignature
from opgen.api.translate import translate
from opgen.api.types import CONST_TENSOR, Binding, Expr, NamedCType
from opgen.dest.operator_includes import render_includes, view_and_copy
from opgen.model import (
    DispatchKey,
    NativeFunction,
    NativeFunctionsGroup,
    NativeFunctionsViewGroup,
    get_view_copy_name,
)
from opgen.output.files import OutputFile, unique
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_SNIPPETS: Final = Snippets("view_copy.cpp")

Signature: TypeAlias = NativeSignature | DispatcherSignature

_TEMPLATE: Final = "CompositeViewCopyKernels.cpp"

_Texts: TypeAlias = tuple[str, ...]


def emit_view_copy_kernels(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `CompositeViewCopyKernels.cpp`."""
    del options
    copies = [_view_part(program, group) for group in program.view_groups]
    others = [_group_part(program, group) for group in program.groups]
    headers = [header for found, *_ in (*copies, *others) for header in found]
    env = {
        "ops_headers": headers,
        "unique_ops_headers": unique(headers),
        "CompositeViewCopyKernel_Definitions": [text for _, texts in copies for text in texts],
        "GeneratedCompositeFunctional_Definitions": [text for _, texts, _ in others for text in texts],
        "GeneratedCompositeOut_Definitions": [text for _, _, texts in others for text in texts],
    }
    yield OutputFile(_TEMPLATE, templates.render(_TEMPLATE, env))


def _view_part(program: Program, group: NativeFunctionsViewGroup) -> tuple[_Texts, _Texts]:
    """Return the includes and the kernels for a view."""
    return _includes(view_and_copy(group)), tuple(render_view_copy(program, group))


def _group_part(program: Program, group: NativeFunctionsGroup) -> tuple[_Texts, _Texts, _Texts]:
    """Return the includes, the functional form's kernel and the out form's for a group."""
    forms = (group.functional, group.inplace, group.mutable)
    written = [function for function in forms if function is not None and not _is_derived(function)]
    return _includes(written), tuple(render_functional(program, group)), tuple(render_out(program, group))


def _includes(functions: Iterable[NativeFunction]) -> _Texts:
    """Return the headers of the functions that kernels call."""
    return tuple(render_includes(functions, ("_ops", "_native")))


def _is_derived(function: NativeFunction) -> bool:
    return "generated" in function.tags


# -------------------------------------------------------------------------------------- views


def render_view_copy(program: Program, group: NativeFunctionsViewGroup) -> Iterator[str]:
    """Yield the kernel of a view's `_copy` form, if its dispatch key requests it."""
    index = program.backend_indices.get(DispatchKey.CompositeExplicitAutogradNonFunctional)
    view, copy = group.view, group.view_copy
    # Inverses of views have a `_scatter` form for a copy, which is handwritten.
    if index is None or copy is None or copy.func.name != get_view_copy_name(view):
        return
    kernel = index.get_kernel(copy)
    if kernel is None:
        return
    if str(copy.func.name) == "view_copy":
        # Not every result can be a view, but every one can be a copy.
        yield _SNIPPETS.render("view_copy_of_view")
        return
    signature = program.signatures(copy).kernel(index)
    arguments = translate(signature.arguments, program.signatures(view).dispatcher.arguments)
    yield _SNIPPETS.render(
        "view_copy",
        head=signature.defn(kernel.kernel),
        view=_call(view, arguments),
        is_multi_output=is_multi_output(view.func),
    )


def _call(function: NativeFunction, arguments: Iterable[Expr]) -> str:
    values = ", ".join([argument.expr for argument in arguments])
    return f"at::_ops::{function.func.name.unambiguous_name()}::call({values})"


# --------------------------------------------------------------------------------- other forms


def _derived_kernel(program: Program, function: NativeFunction) -> tuple[str, Signature] | None:
    """Name and signature of the kernel of a derived function; None if the function is not derived."""
    index = program.backend_indices.get(DispatchKey.CompositeExplicitAutograd)
    kernel = index.get_kernel(function) if index is not None and _is_derived(function) else None
    if index is None or kernel is None:
        return None
    return kernel.kernel, program.signatures(function).kernel(index)


def render_functional(program: Program, group: NativeFunctionsGroup) -> Iterator[str]:
    """Yield the kernel of a functional form that was derived from the in-place or mutable one."""
    derived, origin = _derived_kernel(program, group.functional), group.inplace or group.mutable
    if derived is None or origin is None:
        return
    name, signature = derived
    clones = {a.name: f"{a.name}_clone" for a in origin.func.arguments.flat_all if a.is_write}
    context = [binding.with_name(clones.get(binding.name, binding.name)) for binding in signature.arguments]
    call = _call(origin, translate(context, program.signatures(origin).dispatcher.arguments))
    aliased = origin.func.aliased_return_names()
    fresh = [
        "output" if len(aliased) == 1 else f"std::get<{at}>(output)"
        for at, argument in enumerate(aliased)
        if argument is None
    ]
    yield _SNIPPETS.render(
        "functional",
        head=signature.defn(name),
        clones=[{"name": clone, "argument": argument} for argument, clone in clones.items()],
        call=f"auto output = {call}" if aliased else call,
        returned=_render_return(signature, [*fresh, *clones.values()]),
    )


def render_out(program: Program, group: NativeFunctionsGroup) -> Iterator[str]:
    """Yield the kernel of an out form that was derived from the functional one."""
    derived = _derived_kernel(program, group.out)
    if derived is None:
        return
    name, signature = derived
    outs = [argument.name for argument in group.out.func.arguments.out]
    # The functional form's tensor options are those of the out argument, whatever its name.
    context: list[Expr | Binding] = [Expr(outs[0], NamedCType("out", CONST_TENSOR)), *signature.arguments]
    call = _call(group.functional, translate(context, program.signatures(group.functional).dispatcher.arguments))
    alone = len(group.functional.func.returns) == 1
    results = ["tmp_output" if alone else f"std::get<{at}>(tmp_output)" for at in range(len(outs))]
    yield _SNIPPETS.render(
        "out",
        head=signature.defn(name),
        call=call,
        copies=[{"out": out, "result": result} for out, result in zip(outs, results, strict=True)],
        returned=_render_return(signature, outs if group.out.func.returns else []),
    )


def _render_return(signature: Signature, values: list[str]) -> str:
    if not values:
        return ""
    value = values[0] if len(values) == 1 else f"{signature.returns}({', '.join(values)})"
    return f"  return {value};\n"
