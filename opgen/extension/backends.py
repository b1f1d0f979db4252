"""Dispatch keys → what generated code needs to know about their devices.

There is no list of devices here that would have to grow with torch: a key's name says which
functionality and which kind of device it is for, and what is not known of a device is done the
general way, through the dispatcher and torch's device guards.

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
"""Kinds of device of which a machine has one only."""


@dataclass(frozen=True, slots=True)
class Allocator:
    """Functions that allocate past the dispatcher."""

    include: str
    suffix: str
    """What their names end in: `at::detail::empty_cpu`."""


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
    """A dispatch key, as the kernels that are registered under it see it."""

    key: DispatchKey
    device: str | None
    """The kind of device in the key's name; None for keys that serve several."""
    is_dense: bool
    """Whether tensors under the key are plain memory, so that structured kernels can be made for it."""
    has_many_devices: bool
    """Whether kernels need a current device, and their tensors to be on one."""
    allocator: Allocator | None
    """None to allocate through the dispatcher."""

    @property
    def source_group(self) -> str:
        """The list of sources that the key's registrations belong to: those of a device need its toolkit."""
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
