"""An operator with a kernel that is not structured → the wrapper that is registered for it.

at::Tensor wrapper_CPU__as_strided(const at::Tensor & self, c10::SymIntArrayRef size, …) {
  return at::native::as_strided_tensorimpl(self, C10_AS_INTARRAYREF_SLOW(size), …);
}
"""

from __future__ import annotations

from opgen.api import cpp
from opgen.dest.device_guards import device_check, device_guard
from opgen.dest.kernel_calls import KernelCalls, Wrapper, block
from opgen.model import BackendIndex, DispatchKey, NativeFunction


def wrap_kernel(calls: KernelCalls, function: NativeFunction, index: BackendIndex) -> Wrapper:
    """Return the wrapper of the kernel that `function` has under the key of `index`."""
    arguments = calls.kernel_arguments(function, index)
    name = wrapper_name(function, index.dispatch_key)
    statements = [
        *device_check(function, index, name),
        *device_guard(function, index),
        f"return {calls.kernel(function, index)}({arguments});",
    ]
    signature = calls.program.signatures(function).dispatcher
    definition = f"namespace {{\n{signature.defn(name)} {{\n{block(statements)}}}\n}} // anonymous namespace"
    return Wrapper(function, name, signature, definition)


def wrap_meta_inplace(calls: KernelCalls, function: NativeFunction, index: BackendIndex) -> Wrapper:
    """Return a meta kernel that does nothing, for an in-place operator without one."""
    signature = calls.program.signatures(function).dispatcher
    name = wrapper_name(function, index.dispatch_key)
    own = function.func.arguments.self_arg
    target = signature.arguments[0].name if own is None else own.argument.name
    statements = [
        f"TORCH_CHECK_NOT_IMPLEMENTED({target}.is_meta(),",
        '  "Cannot inplace into non-meta tensor with meta tensor argument");',
        f"return {target};",
    ]
    return Wrapper(function, name, signature, f"{signature.defn(name)} {{\n{block(statements)}}}")


def wrapper_name(function: NativeFunction, key: DispatchKey) -> str:
    """Return the name of the wrapper: `wrapper_CPU_out_addr_out` for `addr.out`."""
    return f"wrapper_{key}_{function.func.name.overload_name}_{cpp.name(function.func)}"
