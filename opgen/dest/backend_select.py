r"""The selected factories → `RegisterBackendSelect.cpp`: kernels that select the backend of a factory.

A factory's tensor options determine its backend, but the dispatcher only looks at tensors.  So the
first kernel computes the dispatch key from the options (and from tensors, if there are any) and
redispatches.

    at::Tensor zeros(c10::SymIntArrayRef size, ::std::optional<at::ScalarType> dtype, …) {
      DispatchKeySet _dk = c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device));
      return at::_ops::zeros::redispatch(_dk, size, dtype, layout, device, pin_memory);
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.api import native
from opgen.dest.cpp_text import string_literal
from opgen.dest.includes import ops_include
from opgen.dest.origin import origin_comment
from opgen.model import DispatchKey, NativeFunction
from opgen.output.files import OutputFile, unique
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_TEMPLATE: Final = "RegisterBackendSelect.cpp"
_TORCH_NAMESPACE: Final = "aten"
_KEY_OF_OPTIONS: Final = "c10::DispatchKeySet(c10::computeDispatchKey(dtype, layout, device))"


def emit_backend_select(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterBackendSelect.cpp`."""

    def render(function: NativeFunction) -> tuple[str, str, str, str] | None:
        if not needs_backend_select(function) or not program.selector.is_native_function_selected(function):
            return None
        if program.has_kernel(DispatchKey.BackendSelect, function):
            return None
        kernel = render_kernel(program, function, options)
        return function.namespace, ops_include(function.root_name, "_ops"), kernel, _registration(function)

    kernels = list(filter(None, map(render, program.functions)))
    libraries: dict[str, list[str]] = {_TORCH_NAMESPACE: []}
    for namespace, _, _, registration in kernels:
        libraries.setdefault(namespace, []).append(registration)
    torch_registrations = libraries.pop(_TORCH_NAMESPACE)
    headers = [header for _, header, _, _ in kernels]
    env = {
        "ops_headers": headers,
        "unique_ops_headers": unique(headers),
        "backend_select_method_definitions": [
            *(kernel for _, _, kernel, _ in kernels),
            *(_render_library(namespace, members) for namespace, members in libraries.items()),
        ],
        "backend_select_function_registrations": torch_registrations,
    }
    yield OutputFile(_TEMPLATE, templates.render(_TEMPLATE, env))


def needs_backend_select(function: NativeFunction) -> bool:
    """Return whether only the tensor options determine the operator's backend.

    Factories that take a tensor are dispatched on it, like other operators.
    """
    name = function.root_name
    dispatches_on_tensor = name.endswith("_like") or name.startswith("new_")
    return function.func.arguments.tensor_options is not None and not dispatches_on_tensor


def render_kernel(program: Program, function: NativeFunction, options: Options) -> str:
    """Return the kernel that redispatches `function`."""
    signatures = program.signatures(function)
    signature = signatures.native_symint
    tensors = [a.name for a in function.func.arguments.flat_non_out if a.type.is_tensor_like()]
    arguments = ", ".join(["_dk", *(expr.expr for expr in signature.dispatcher_exprs())])
    return f"""\
{origin_comment(program, function, options)}
C10_ALWAYS_INLINE
{signature.defn()} {{
{_key_set(tensors)}
  return at::_ops::{function.func.name.unambiguous_name()}::redispatch(
      {arguments});
}}"""


def _key_set(tensors: Iterable[str]) -> str:
    """Return statements that compute the key set `_dk` to dispatch with."""
    names = ", ".join(tensors)
    if not names:
        return f"  DispatchKeySet _dk = {_KEY_OF_OPTIONS};"
    return f"""\
  DispatchKeySet _dk_set = {_KEY_OF_OPTIONS} | c10::detail::multi_dispatch_key_set({names});
  DispatchKeySet _dk_mask = c10::DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::BackendSelect);
  DispatchKeySet _dk = c10::impl::computeDispatchKeySet(_dk_set, _dk_mask);"""


def _registration(function: NativeFunction) -> str:
    operator = string_literal(function.qualified_name)
    return f"m.impl({operator}, TORCH_FN({native.name(function.func)}));"


def _render_library(namespace: str, statements: Iterable[str]) -> str:
    """Return the registrations of a library that isn't torch's own; the template contains those of torch."""
    registrations = "\n".join([f"  {statement}" for statement in statements])
    return f"""
TORCH_LIBRARY_IMPL({namespace}, BackendSelect, m) {{
{registrations}
}}"""
