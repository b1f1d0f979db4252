"""Operators without derivatives → `RegisterAutogradFallback.cpp`, whose kernels make backward raise an error.

Without an autograd kernel, an operator's result would be treated as constant, and gradients through
it would be zero or missing.  torch has a kernel that makes backward raise its usual error instead.

    m.impl("rowsum", torch::autograd::autogradNotImplementedFallback());
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.api.autograd import DEFAULT_KEY
from opgen.api.cpp import DISPATCH_KEY_SET_PARAMETER
from opgen.api.types import render_defns
from opgen.dest.autograd_home import operator_struct
from opgen.dest.cpp_text import string_literal
from opgen.dest.kernel_calls import block
from opgen.dispatch_keys import DispatchKey
from opgen.extension.derivatives import with_derivatives
from opgen.extension.extension import Extension
from opgen.extension.includes import header, operator_headers, render_file
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


@dataclass(frozen=True, slots=True)
class _Registered:
    """The template values of a kernel."""

    operator: str
    name: str
    definition: str


def emit_autograd_fallback(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterAutogradFallback.cpp`, if there are any such operators."""
    # An operator may have derivatives for some devices only, and none for the others.
    derived = {one.func.func.name for one in with_derivatives(extension) if DEFAULT_KEY in (one.info or ())}
    candidates = (f for f in extension.program.functions if f.func.name not in derived)
    functions = [f for f in candidates if not f.is_boxed and needs_fallback(extension, f)]
    if not functions:
        return
    # torch's kernel handles only returned tensors; it wouldn't bump the versions of other mutated ones.
    mutable = [f for f in functions if _hides_writes(f)]
    if mutable and not with_derivatives(extension):
        yield render_file(extension, templates, "detail/Nodes.h", "detail/Nodes.h")
    includes = operator_headers(extension, "_ops", {f.root_name for f in mutable})
    path = "RegisterAutogradFallback.cpp"
    yield render_file(
        extension,
        templates,
        path,
        path,
        includes=[header(extension, "detail/Nodes.h"), *includes] if mutable else [],
        operators=[string_literal(str(f.func.name)) for f in functions if f not in mutable],
        kernels=[_kernel(extension, f) for f in mutable],
    )


def _kernel(extension: Extension, function: NativeFunction) -> _Registered:
    """Return a kernel that runs the operator and marks its mutated and returned tensors as not differentiable."""
    signature, name = extension.signatures(function).dispatcher, operator_struct(function.func.name)
    tensors = [a.name for a in function.func.arguments.flat_all if a.type.is_tensor_like()]
    written = [a.name for a in function.func.arguments.flat_all if a.is_write]
    arguments = ", ".join(("dispatchKeySet & c10::after_autograd_keyset", *(b.name for b in signature.arguments)))
    called = f"::{extension.namespace}::_ops::{name}::redispatch({arguments})"
    returns = str(signature.returns)
    qualified = string_literal(function.qualified_name)
    statements = [
        f"auto node_ = graph::not_implemented({qualified}, {', '.join(tensors)});",
        *[f"graph::check_inplace({written_to}, node_);" for written_to in written],
        f"{'' if returns == 'void' else f'{returns} result_ = '}[&]() -> {returns} {{",
        "  at::AutoDispatchBelowAutograd guard_;",
        f"  return {called};",
        "}();",
        *[f"graph::rebase({written_to}, node_);" for written_to in written],
        *([] if returns == "void" else ["graph::mark(result_, node_);", "return result_;"]),
    ]
    parameters = ", ".join((DISPATCH_KEY_SET_PARAMETER, render_defns(signature.arguments)))
    definition = f"{returns} undifferentiated_{name}({parameters}) {{\n{block(statements)}}}\n"
    return _Registered(string_literal(str(function.func.name)), f"undifferentiated_{name}", definition)


def _hides_writes(function: NativeFunction) -> bool:
    """Return whether the operator mutates arguments that it doesn't return."""
    returned = function.func.aliased_return_names()
    return any(argument.name not in returned for argument in function.func.arguments.mutated)


def needs_fallback(extension: Extension, function: NativeFunction) -> bool:
    """Return whether a gradient through the operator must raise an error, because no formula gives it."""
    takes_tensors = function.is_boxed or any(a.type.is_tensor_like() for a in function.func.arguments.flat_all)
    if not takes_tensors or function.has_composite_implicit_autograd_kernel:
        return False
    return not any(
        index.has_kernel(function)
        for key, index in extension.program.backend_indices.items()
        if key.name.startswith(DispatchKey.Autograd.name)
    )
