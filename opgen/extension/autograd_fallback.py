"""Operators without derivatives → `RegisterAutogradFallback.cpp`, which says so when a gradient is asked for.

Without a kernel for autograd, an operator's result would count as constant, and a gradient through
it come out as zero or not at all.  torch has kernels that raise its usual error instead; and for
operators that write or make views, kernels that keep count of versions and know of views.

    m.impl("rowsum", torch::autograd::autogradNotImplementedFallback());
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from opgen.api.cpp import DISPATCH_KEY_SET_PARAMETER
from opgen.api.types import render_defns
from opgen.dest.cpp_text import string_literal
from opgen.dest.kernel_calls import block
from opgen.dispatch_keys import DispatchKey
from opgen.extension.extension import Extension, has_composite_implicit_kernel
from opgen.extension.includes import operator_headers, render_file
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


@dataclass(frozen=True, slots=True)
class _Counting:
    """A kernel that counts what an operator writes to, as the template calls its parts."""

    operator: str
    name: str
    definition: str


def emit_autograd_fallback(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yields `RegisterAutogradFallback.cpp`, if autograd has anything to know of any operator."""
    functions = extension.program.functions
    undifferentiated = [f for f in functions if _needs_fallback(extension, f)]
    views = [f for f in functions if f.is_view_op and _is_dispatched(f) and not is_differentiable(extension, f)]
    counting = [f for f in functions if _writes(f) and _is_dispatched(f) and f not in views]
    if not (undifferentiated or views or counting):
        return
    yield render_file(
        extension,
        templates,
        "RegisterAutogradFallback.cpp",
        "RegisterAutogradFallback.cpp",
        includes=operator_headers(extension, "_ops", {f.root_name for f in counting}),
        undifferentiated=[string_literal(str(f.func.name)) for f in undifferentiated],
        views=[string_literal(str(f.func.name)) for f in views],
        counting=[_counting(extension, function) for function in counting],
    )


def is_differentiable(extension: Extension, function: NativeFunction) -> bool:
    """Whether there is an entry for the operator in derivatives.yaml, or something that follows from one."""
    autograd = extension.autograd
    if autograd is None:
        return False
    return any(each.func.func.name == function.func.name and each.info is not None for each in autograd.functions)


def _is_dispatched(function: NativeFunction) -> bool:
    return not has_composite_implicit_kernel(function)


def _needs_fallback(extension: Extension, function: NativeFunction) -> bool:
    takes_tensors = any(a.type.is_tensor_like() for a in function.func.arguments.flat_all)
    if not takes_tensors or not _is_dispatched(function) or is_differentiable(extension, function):
        return False
    return not any(
        index.has_kernel(function)
        for key, index in extension.program.backend_indices.items()
        if key.name.startswith(DispatchKey.Autograd.name)
    )


def _writes(function: NativeFunction) -> bool:
    return any(a.is_write for a in function.func.arguments.flat_all)


def _counting(extension: Extension, function: NativeFunction) -> _Counting:
    """Runs the operator below the key, then counts one more version of what it wrote to."""
    signature, name = extension.signatures(function).dispatcher, function.func.name.unambiguous_name()
    parameters = ", ".join((DISPATCH_KEY_SET_PARAMETER, render_defns(signature.arguments)))
    arguments = ", ".join(
        ("dispatchKeySet & c10::after_ADInplaceOrView_keyset", *(b.name for b in signature.arguments))
    )
    call = f"::{extension.namespace}::_ops::{name}::redispatch({arguments})"
    written = [a.name for a in function.func.arguments.flat_all if a.is_write]
    returns = str(signature.returns)
    statements = [
        f"{'' if returns == 'void' else f'{returns} result_ = '}[&]() -> {returns} {{",
        "  at::AutoDispatchBelowADInplaceOrView guard_;",
        f"  return {call};",
        "}();",
        *[f"detail::count({name});" for name in written],
        *(["return result_;"] if returns != "void" else []),
    ]
    definition = f"{signature.returns} count_{name}({parameters}) {{\n{block(statements)}}}\n"
    return _Counting(string_literal(str(function.func.name)), f"count_{name}", definition)
