"""Operators → the C++ wrappers of kernels and the calls of wrappers, memoized.

A `Wrapper` is the function that is registered for an operator under a key.  The public function in
the key's namespace calls it too, so that users can bypass the dispatcher.  They depend on the key only through the
wrapper's name, so `KernelCalls` memoizes the rest.

    at::Tensor add(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha) {
      return wrapper_CPU_add_Tensor(self, other, alpha);
    }
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from opgen.api.dispatcher import DispatcherSignature
from opgen.api.native import NativeSignature
from opgen.api.translate import call_arguments
from opgen.dest.device_guards import kernel_guard_class
from opgen.frozen_dataclass import dataclass
from opgen.model import BackendIndex, DispatchKey, NativeFunction
from opgen.program.program import Program


@dataclass(frozen=True, slots=True)
class Wrapper:
    """The C++ function that is registered for an operator under a key."""

    function: NativeFunction
    name: str
    signature: DispatcherSignature | NativeSignature
    definition: str
    """Its C++, with the class around the structured kernel if there is one."""


@dataclass(frozen=True, slots=True)
class KernelCalls:
    """Memoizes the text of calls of kernels and wrappers, for all keys."""

    program: Program
    kernel_class: str = ""
    """The class that kernels of a backend outside of torch are static members of; empty if they are functions."""
    rocm: bool = False
    """Whether CUDA means ROCm/HIP."""
    _kernel_arguments: dict[tuple[str, bool, bool], str] = field(default_factory=dict, repr=False)
    _public: dict[tuple[str, bool, bool], tuple[tuple[str, str], ...]] = field(default_factory=dict, repr=False)

    def guard_class(self, key: DispatchKey) -> str | None:
        """Return the class of the guard that a structured kernel holds; None for keys with a single device."""
        if self.rocm and key is DispatchKey.CUDA:
            return self.program.release.rocm_guard
        return kernel_guard_class(key)

    def kernel(self, function: NativeFunction, index: BackendIndex) -> str:
        """Return the qualified name of the function's kernel in `index`."""
        kernel = index.index[function.func.name]
        scope = f"{kernel.cpp_namespace}::{self.kernel_class}" if self.kernel_class else kernel.cpp_namespace
        return f"{scope}::{kernel.kernel}"

    def kernel_arguments(self, function: NativeFunction, index: BackendIndex) -> str:
        """Return the arguments of a call of the kernel, in a function with the dispatcher's parameters."""
        key = (str(function.func.name), index.index[function.func.name].supports_symint(), index.external)
        cached = self._kernel_arguments.get(key)
        if cached is None:
            signatures = self.program.signatures(function)
            kernel = signatures.kernel(index)
            cached = call_arguments(signatures.dispatcher.arguments, kernel.arguments)
            self._kernel_arguments[key] = cached
        return cached

    def public_definitions(self, wrapper: Wrapper) -> str:
        """Return the public functions that call `wrapper`, one for each C++ signature of the operator."""
        return "\n".join(
            [f"{head} {{\n  return {wrapper.name}({arguments});\n}}" for head, arguments in self.public_calls(wrapper)]
        )

    def public_calls(self, wrapper: Wrapper) -> tuple[tuple[str, str], ...]:
        """Return the head of each public function, and the arguments with which it calls the wrapper."""
        signature = wrapper.signature
        key = (str(wrapper.function.func.name), signature.symint, isinstance(signature, DispatcherSignature))
        cached = self._public.get(key)
        if cached is None:
            public = self.program.signatures(wrapper.function).cpp_backend.signatures()
            cached = self._public[key] = tuple(
                (each.defn(), call_arguments(each.arguments, signature.arguments)) for each in public
            )
        return cached


def block(lines: Iterable[str], indent: str = "  ") -> str:
    """Return the lines, indented and with line ends."""
    return "".join([f"{indent}{line}\n" for line in lines])
