"""Tells torch of the device: its name, and the module `torch.lab` that programs ask about it.

import lab_device
lab_device.register("build/liblab.so")
torch.ones(3).to("lab")
"""

from __future__ import annotations

import os
import types

import torch

NAME = "lab"
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
    torch._register_device_module(NAME, module)
