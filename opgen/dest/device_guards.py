"""An operator → the statements with which its kernels' wrappers check and set the device.

There are two kinds.  A *device check* raises an error for tensors on different devices.  A *device
guard* makes the device of the tensors the current one while the kernel runs.  `BackendIndex.device_guard`
determines which backends need them, and the entries of operators which operators do.

    std::optional<Device> common_device = std::nullopt;
    c10::impl::check_and_update_common_device(common_device, self, "wrapper_CUDA_add_Tensor", "self");
    const OptionalDeviceGuard device_guard(device_of(self));
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.model import (
    Argument,
    BackendIndex,
    BaseTy,
    BaseType,
    DeviceCheckType,
    DispatchKey,
    ListType,
    NativeFunction,
    OptionalType,
    Type,
    is_cuda_dispatch_key,
)

_TENSOR: Final = BaseType(BaseTy.Tensor)


def device_check(function: NativeFunction, index: BackendIndex, wrapper: str) -> list[str]:
    """Return statements that reject tensors on different devices, in the wrapper called `wrapper`.

    Keyword-only arguments may be on any device.
    """
    if not index.device_guard or function.device_check is DeviceCheckType.NoCheck:
        return []
    arguments = function.func.arguments
    return check_devices((*arguments.out, *arguments.flat_positional), wrapper)


def check_devices(arguments: Iterable[Argument], wrapper: str) -> list[str]:
    """Return statements that reject tensors on different devices among these arguments of `wrapper`."""
    return [
        "std::optional<Device> common_device = std::nullopt;",
        "(void)common_device; // unused if there are no tensors",
        *(
            f'c10::impl::check_and_update_common_device(common_device, {a.name}, "{wrapper}", "{a.name}");'
            for a in arguments
            if a.type.is_tensor_like() and _is_checked(a.type)
        ),
    ]


def _is_checked(type: Type) -> bool:
    """Return whether torch can check the devices of a type: not of optional or nested lists."""
    elem = type.elem if isinstance(type, ListType) else type
    return (elem.elem if isinstance(elem, OptionalType) else elem) == _TENSOR


def _has_device_of(type: Type) -> bool:
    """Return whether torch's `device_of` accepts a type: optional tensors, but no lists of them."""
    return (type.elem if isinstance(type, ListType | OptionalType) else type) == _TENSOR


def device_guard(function: NativeFunction, index: BackendIndex) -> list[str]:
    """Return statements that set the current device to the one that the kernel works on."""
    if not index.device_guard or not function.device_guard:
        return []
    if function.func.arguments.tensor_options is not None:
        guard = "const DeviceGuard device_guard(device_or_default(device));"
        # A factory may be the first use of CUDA: no tensor has initialized it yet.
        lazily = "globalContext().lazyInitDevice(c10::DeviceType::CUDA);"
        return [lazily, guard] if is_cuda_dispatch_key(index.dispatch_key) else [guard]
    tensors = [argument for argument in _device_arguments(function) if argument.type.is_tensor_like()]
    # torch's own operators have no other lists; an extension's sources define a function for them.
    taken = [a for a in tensors if _has_device_of(a.type)] if function.func.is_lenient else tensors
    find = "device_of" if taken else "device_in"
    return [f"const OptionalDeviceGuard device_guard({find}({a.name}));" for a in (taken or tensors)[:1]]


def _device_arguments(function: NativeFunction) -> Iterator[Argument]:
    """Yield the arguments that determine the device, in order of precedence."""
    arguments = function.func.arguments
    if arguments.self_arg is not None:
        yield arguments.self_arg.argument
    yield from arguments.out
    yield from arguments.flat_positional


def kernel_guard_class(key: DispatchKey) -> str | None:
    """Return the class of the guard that a structured kernel holds while it allocates and runs.

    None for keys with a single device.  Unknown keys have a guard.
    """
    if key in (DispatchKey.CPU, DispatchKey.Meta):
        return None
    return "c10::cuda::OptionalCUDAGuard" if key is DispatchKey.CUDA else "c10::OptionalDeviceGuard"


def enter_device(key: DispatchKey) -> tuple[str, ...]:
    """Return statements that set the current device to that of the first output, where all outputs are."""
    # Reproduces torchgen's output: MTIA's kernels hold a guard that is never set.
    if key is DispatchKey.MTIA or kernel_guard_class(key) is None:
        return ()
    return (
        "auto current_device = guard_.current_device();",
        "if (C10_UNLIKELY(current_device.has_value())) {",
        "  TORCH_INTERNAL_ASSERT(*current_device == options.device(),",
        """    "structured kernels don't support multi-device outputs");""",
        "} else {",
        "  guard_.reset_device(options.device());",
        "}",
    )
