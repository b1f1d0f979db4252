"""The backends of a build → calls of their kernels that bypass the dispatcher.

With `--static-dispatch-backend CPU`, an operator's `call` is a direct call of the CPU kernel, or else of a
composite kernel, or an error.  With several backends, the arguments select one at run time.

    return at::cpu::sgn(self);
    return at::compositeimplicitautograd::real(self);
    TORCH_CHECK(false, "Static dispatch does not support _fused_dropout forCPU ");
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.api.cpp import CppSignature
from opgen.api.signatures import Signatures
from opgen.api.translate import translate
from opgen.api.types import NamedCType, SpecialArgName
from opgen.dest.cpp_text import string_literal
from opgen.dest.includes import ops_include
from opgen.frozen_map import FrozenMap
from opgen.model import (
    DEFAULT_KERNEL_NAMESPACE,
    STRUCTURED_DISPATCH_KEYS,
    BackendIndex,
    DispatchKey,
    NativeFunction,
)
from opgen.program.program import Options, Program

_COMPOSITE_KEYS: Final = (
    DispatchKey.CompositeImplicitAutograd,
    DispatchKey.CompositeImplicitAutogradNestedTensor,
    DispatchKey.CompositeExplicitAutograd,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
)
_STRUCTURED_HEADER_KEYS: Final = STRUCTURED_DISPATCH_KEYS | {
    DispatchKey.Meta,
    DispatchKey.CompositeExplicitAutogradNonFunctional,
}
"""Keys whose headers declare every form of a structured operator, even with a generated kernel."""


def static_backends(program: Program, options: Options) -> tuple[BackendIndex, ...]:
    """Return the backends that are called directly; none by default."""
    return tuple(
        program.backend_indices.get(key) or BackendIndex(key, True, False, False, FrozenMap())
        for key in dict.fromkeys(options.static_dispatch_keys)
    )


def static_includes(backends: Iterable[BackendIndex]) -> list[str]:
    """Return the headers that declare the functions of `backends`, and of the keys that they fall back to."""
    keys = [backend.dispatch_key for backend in backends]
    return [f"#include <ATen/{key}Functions.h>" for key in (*keys, *_COMPOSITE_KEYS)] if keys else []


def static_ops_includes(function: NativeFunction, backends: Iterable[BackendIndex]) -> Iterator[str]:
    """Return the per-operator headers that declare the functions that `static_call` calls."""
    for backend in backends:
        key: DispatchKey | None = backend.dispatch_key
        delegates = function.structured_delegate is not None and key in _STRUCTURED_HEADER_KEYS
        if not (delegates or backend.has_kernel(function)):
            key = _composite_key(function)
        if key is not None:
            yield ops_include(function.root_name, f"_{key.lower()}_dispatch")


def static_call(function: NativeFunction, signatures: Signatures, backends: tuple[BackendIndex, ...]) -> str | None:
    """Return the statements that call `function` for the right one of `backends`.

    None if the dispatcher is needed: with several backends, if no argument determines one, or if the author
    registers the kernels.
    """
    if function.manual_kernel_registration:
        return None
    callee = signatures.cpp_backend.symint_signature or signatures.cpp_backend.signature
    call = _arguments(signatures, callee)
    serving = [backend for backend in backends if _serves(backend, function)]
    otherwise = _fallback(function, callee, call, backends)
    if not serving:
        return otherwise
    if len(serving) == 1:
        return f"return {_namespace(serving[0], function)}::{call};"
    key_set = _key_set(function)
    if key_set is None:
        return None
    cases = [(backend.dispatch_key, f"{_namespace(backend, function)}::{call}") for backend in serving]
    return _switch(key_set, cases, otherwise)


def _switch(key_set: str, cases: Iterable[tuple[DispatchKey, str]], otherwise: str) -> str:
    """Return the statements that return the call for the backend of the highest key in `key_set`."""
    branches = "".join(f"    case DispatchKey::{key}:\n      return {call};;\n" for key, call in cases)
    return f"""DispatchKeySet _dk_set = {key_set};
  DispatchKey _dk = c10::highestPriorityBackendTypeId(_dk_set);
  switch (_dk) {{
{branches}    default:
      {otherwise}
  }}"""


def _arguments(signatures: Signatures, callee: CppSignature) -> str:
    """Return the call of `callee`, in a function with the dispatcher's parameters."""
    goals = [_plain_memory_format(binding.nctype) for binding in callee.arguments]
    exprs = translate(signatures.dispatcher.arguments, goals)
    return f"{callee.name()}({', '.join([expr.expr for expr in exprs])})"


def _plain_memory_format(goal: NamedCType) -> NamedCType:
    """Return `goal` with an unchecked memory format: one schema can't have it twice, so no check is needed."""
    return goal.with_name("memory_format") if goal.name is SpecialArgName.possibly_redundant_memory_format else goal


def _serves(backend: BackendIndex, function: NativeFunction) -> bool:
    """Return whether the backend has the function, as its author's kernel or around a structured one."""
    delegates = function.structured_delegate is not None and backend.dispatch_key in STRUCTURED_DISPATCH_KEYS
    return delegates or backend.has_kernel(function)


def _namespace(backend: BackendIndex, function: NativeFunction) -> str:
    """Return the namespace of the backend's C++ functions: `at::cpu`, next to the namespace of its kernels."""
    kernel = backend.get_kernel(function)
    kernels = DEFAULT_KERNEL_NAMESPACE if kernel is None else kernel.cpp_namespace
    return f"{kernels.removesuffix('::native')}::{backend.dispatch_key.lower()}"


def _fallback(function: NativeFunction, callee: CppSignature, call: str, backends: Iterable[BackendIndex]) -> str:
    """Return the call for a backend that has no kernel."""
    key = _composite_key(function)
    if key is not None:
        return f"return at::{key.lower()}::{call};"
    names = ", ".join(str(backend.dispatch_key) for backend in backends)
    # Intentional: builds may match torch's message, which has no space after `for`.
    message = string_literal(f"Static dispatch does not support {callee.name()} for{names} ")
    return f"TORCH_CHECK(false, {message});"


def _composite_key(function: NativeFunction) -> DispatchKey | None:
    """Return the key of the function's composite kernel, if it has one."""
    if function.has_composite_explicit_autograd_kernel:
        return DispatchKey.CompositeExplicitAutograd
    if function.has_composite_explicit_autograd_non_functional_kernel:
        return DispatchKey.CompositeExplicitAutogradNonFunctional
    if function.has_composite_implicit_autograd_kernel:
        return DispatchKey.CompositeImplicitAutograd
    if function.has_composite_implicit_autograd_nested_tensor_kernel:
        return DispatchKey.CompositeImplicitAutogradNestedTensor
    return None


def _key_set(function: NativeFunction) -> str | None:
    """Return the expression for the dispatch keys of the arguments; None if they have none."""
    arguments = function.func.arguments
    parts = []
    if arguments.tensor_options is not None:
        parts.append("DispatchKeySet(c10::computeDispatchKey(dtype, layout, device))")
    tensors = [argument.name for argument in arguments.flat_all if argument.type.is_tensor_like()]
    if tensors:
        parts.append(f"c10::detail::multi_dispatch_key_set({', '.join(tensors)})")
    return " | ".join(parts) or None
