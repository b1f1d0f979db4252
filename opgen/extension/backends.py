"""Dispatch keys → the properties of their devices that generated code depends on.

A key's name gives its functionality and its device type, so new devices of torch need no change here.
Unknown devices are handled generically, through the dispatcher and torch's device guards.

    SparseCUDA   →   Backend(device="CUDA", is_dense=False, has_many_devices=True, …)
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from opgen.dispatch_keys import BACKEND_COMPONENTS, DispatchKey
from opgen.frozen_dataclass import dataclass

_FUNCTIONALITIES: Final = ("Quantized", "SparseCsr", "Sparse", "NestedTensor", "")
"""Prefixes of dispatch keys, longer ones first."""
_SINGLE_DEVICES: Final = frozenset({"CPU", "Meta"})
"""Device types without an index: a machine has one device of each."""


@dataclass(frozen=True, slots=True)
class Allocator:
    """Functions that allocate tensors, bypassing the dispatcher."""

    include: str
    suffix: str
    """The suffix of their names: `at::detail::empty_cpu`."""


_ALLOCATORS: Final[Mapping[str, Allocator]] = MappingProxyType(
    {
        "CPU": Allocator("ATen/EmptyTensor.h", "cpu"),
        "Meta": Allocator("ATen/EmptyTensor.h", "meta"),
        "CUDA": Allocator("ATen/cuda/EmptyTensor.h", "cuda"),
    }
)
"""Allocators that torch's headers have on every platform; other devices allocate through the dispatcher."""


@dataclass(frozen=True, slots=True)
class Backend:
    """The properties of a dispatch key that kernels under it depend on."""

    key: DispatchKey
    device: str | None
    """The device type in the key's name; None for keys of several device types."""
    is_dense: bool
    """Whether tensors under the key are dense, so that structured kernels are supported."""
    has_many_devices: bool
    """Whether kernels need a device guard and a check that all tensors are on the same device."""
    allocator: Allocator | None
    """None to allocate through the dispatcher."""

    @property
    def source_group(self) -> str:
        """The source list of the key's registrations: those of a device need its toolkit."""
        if self.device is None or self.device in _SINGLE_DEVICES:
            return ""
        return f"{self.device.lower()}_"


def backend(key: DispatchKey) -> Backend:
    """Return the properties of a dispatch key's device."""
    for functionality in _FUNCTIONALITIES:
        device = key.name.removeprefix(functionality)
        if key.name.startswith(functionality) and device in BACKEND_COMPONENTS:
            is_dense = not functionality
            allocator = _ALLOCATORS.get(device) if is_dense else None
            return Backend(key, device, is_dense, device not in _SINGLE_DEVICES, allocator)
    return Backend(key, None, False, False, None)
