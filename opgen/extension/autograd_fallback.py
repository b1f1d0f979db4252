"""Operators without derivatives → `RegisterAutogradFallback.cpp`, which says so when a gradient is asked for.

Without a kernel for autograd, an operator's result would count as constant, and a gradient through
it come out as zero or not at all.  torch has a kernel that raises its usual error instead.

    m.impl("rowsum", torch::autograd::autogradNotImplementedFallback());
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.dest.cpp_text import string_literal
from opgen.dispatch_keys import DispatchKey
from opgen.extension.extension import Extension, has_composite_implicit_kernel
from opgen.extension.includes import render_file
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


def emit_autograd_fallback(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yields `RegisterAutogradFallback.cpp`, if there are any such operators."""
    operators = [string_literal(str(f.func.name)) for f in extension.program.functions if _needs_fallback(extension, f)]
    if operators:
        path = "RegisterAutogradFallback.cpp"
        yield render_file(extension, templates, path, path, operators=operators)


def is_differentiable(extension: Extension, function: NativeFunction) -> bool:
    """Whether there is an entry for the operator in derivatives.yaml, or something that follows from one."""
    autograd = extension.autograd
    if autograd is None:
        return False
    return any(each.func.func.name == function.func.name and each.info is not None for each in autograd.functions)


def _needs_fallback(extension: Extension, function: NativeFunction) -> bool:
    takes_tensors = any(a.type.is_tensor_like() for a in function.func.arguments.flat_all)
    if not takes_tensors or has_composite_implicit_kernel(function) or is_differentiable(extension, function):
        return False
    return not any(
        index.has_kernel(function)
        for key, index in extension.program.backend_indices.items()
        if key.name.startswith(DispatchKey.Autograd.name)
    )
