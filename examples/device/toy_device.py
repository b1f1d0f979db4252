"""Tells torch of the device: its name, and the module `torch.toy` that programs ask about it.

import toy_device
toy_device.register("build/libtoy.so")
torch.ones(3).to("toy")
"""

from __future__ import annotations

import os
import types

import torch

NAME = "toy"
DEVICE_COUNT = 2


def register(library: str | os.PathLike[str]) -> None:
    """Loads the library, and gives torch's key for unknown devices its name."""
    torch.ops.load_library(os.fspath(library))
    torch.utils.rename_privateuse1_backend(NAME)
    module = types.ModuleType(f"torch.{NAME}")
    module.is_available = lambda: True  # type: ignore[attr-defined]
    module.is_initialized = lambda: True  # type: ignore[attr-defined]
    module.device_count = lambda: DEVICE_COUNT  # type: ignore[attr-defined]
    module._lazy_init = lambda: None  # type: ignore[attr-defined]
    module._is_in_bad_fork = lambda: False  # type: ignore[attr-defined]
    module.get_rng_state = lambda device=NAME: torch.empty(0, dtype=torch.uint8)  # type: ignore[attr-defined]
    module.set_rng_state = lambda state, device=NAME: None  # type: ignore[attr-defined]
    torch._register_device_module(NAME, module)
