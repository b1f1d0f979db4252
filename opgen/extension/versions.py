"""Mutating operators and views → `RegisterADInplaceOrView.cpp`, which tracks versions and views for autograd.

A tensor that autograd saved for backward must not be mutated afterwards, so each mutation bumps the
tensor's version counter.  A view must know its base, and how to be replayed.  Both apply with or
without derivatives.

    at::Tensor & write_scale_(c10::DispatchKeySet dispatchKeySet, at::Tensor & self, double by) {
      …
      count_write(self);
      return result_;
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.api.autograd import gen_differentiable_outputs
from opgen.api.cpp import DISPATCH_KEY_SET_PARAMETER
from opgen.api.types import render_defns
from opgen.dest.autograd_home import operator_struct
from opgen.dest.autograd_kernels import is_tracked_view
from opgen.dest.cpp_text import string_literal
from opgen.dest.kernel_calls import block
from opgen.extension.derivatives import with_derivatives
from opgen.extension.extension import Extension
from opgen.extension.includes import header, operator_headers, render_file
from opgen.extension.operators import call
from opgen.frozen_dataclass import dataclass
from opgen.model import DispatchKey, NativeFunction, OperatorName
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


@dataclass(frozen=True, slots=True)
class _Registered:
    """The template values of a kernel."""

    operator: str
    name: str
    definition: str


def emit_versions(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterADInplaceOrView.cpp`, if any operator mutates arguments or is a view."""
    functions = [f for f in extension.program.functions if not (f.is_boxed or f.has_composite_implicit_autograd_kernel)]
    functions = [f for f in functions if not extension.program.has_kernel(DispatchKey.ADInplaceOrView, f)]
    views = [f for f in functions if is_tracked_view(f)]
    writing = [f for f in functions if f not in views and any(a.is_write for a in f.func.arguments.flat_all)]
    if not (views or writing):
        return
    names = {function.root_name for function in (*views, *writing)}
    constant = _constant(extension)
    yield render_file(
        extension,
        templates,
        "RegisterADInplaceOrView.cpp",
        "RegisterADInplaceOrView.cpp",
        includes=[*_helpers(extension, views), *operator_headers(extension, "_ops", names)],
        kernels=[*(_view(extension, f, constant) for f in views), *(_writing(extension, f) for f in writing)],
    )


def emit_view_helpers(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the helper functions that replay views."""
    yield render_file(extension, templates, "detail/Views.h", "detail/Views.h")
    if any(is_tracked_view(f) for f in extension.program.functions):
        yield render_file(extension, templates, "detail/Replay.h", "detail/Replay.h")


def _helpers(extension: Extension, views: Sequence[NativeFunction]) -> list[str]:
    """Return the headers that views need; mutating operators need no autograd headers."""
    return [header(extension, path) for path in ("detail/Replay.h", "detail/Views.h")] if views else []


def _redispatch(extension: Extension, function: NativeFunction) -> str:
    """Return a call that redispatches below `ADInplaceOrView`, under the key's guard."""
    signature, name = extension.signatures(function).dispatcher, operator_struct(function.func.name)
    arguments = ("dispatchKeySet & c10::after_ADInplaceOrView_keyset", *(b.name for b in signature.arguments))
    called = f"::{extension.namespace}::_ops::{name}::redispatch({', '.join(arguments)})"
    return f"[&]() -> {signature.returns} {{ at::AutoDispatchBelowADInplaceOrView guard_; return {called}; }}()"


def _registered(extension: Extension, function: NativeFunction, name: str, statements: list[str]) -> _Registered:
    signature = extension.signatures(function).dispatcher
    parameters = ", ".join(filter(None, (DISPATCH_KEY_SET_PARAMETER, render_defns(signature.arguments))))
    definition = f"{signature.returns} {name}({parameters}) {{\n{block(statements)}}}\n"
    return _Registered(string_literal(str(function.func.name)), name, definition)


def _writing(extension: Extension, function: NativeFunction) -> _Registered:
    """Return a kernel that redispatches below the key, then bumps the versions of the mutated tensors."""
    returns = str(extension.signatures(function).dispatcher.returns)
    written = [a.name for a in function.func.arguments.flat_all if a.is_write]
    statements = [
        f"{'' if returns == 'void' else f'{returns} result_ = '}{_redispatch(extension, function)};",
        *[f"count_write({name});" for name in written],
        *(["return result_;"] if returns != "void" else []),
    ]
    return _registered(extension, function, f"write_{function.func.name.unambiguous_name()}", statements)


def _constant(extension: Extension) -> frozenset[OperatorName]:
    """Return the operators whose derivatives say that the results have no gradient."""
    return frozenset(one.func.func.name for one in with_derivatives(extension) if not gen_differentiable_outputs(one))


def _view(extension: Extension, function: NativeFunction, constant: frozenset[OperatorName]) -> _Registered:
    """Return a kernel that redispatches below the key, then makes its results views of the base."""
    base, *others = [binding.name for binding in extension.signatures(function).dispatcher.arguments]
    result = f"{base}, {_redispatch(extension, function)}"
    if function.func.name in constant:
        statements = [f"return detail::as_constant_view({result});"]
    else:
        parameters = ", ".join((f"const at::Tensor& {base}", *(f"const auto& {name}" for name in others)))
        again = call(extension, function, ", ".join((base, *(f"detail::borrow({name})" for name in others))))
        taken = ", ".join((f"[]({parameters}) {{ return {again}; }}", *(f"detail::own({name})" for name in others)))
        statements = [f"return detail::as_view({result}, {taken});"]
    return _registered(extension, function, f"view_{function.func.name.unambiguous_name()}", statements)
