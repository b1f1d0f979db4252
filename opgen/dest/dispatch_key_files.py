"""Dispatch keys → the names of their files, and the dependency lists that contain them.

SparseCUDA  →  RegisterSparseCUDA_0.cpp, in the list `cuda_`
CPU         →  CPUFunctions.h, CPUFunctions_inl.h, ops/add_cpu_dispatch.h
"""

from __future__ import annotations

from opgen.model import DispatchKey, is_cuda_dispatch_key, is_xpu_dispatch_key
from opgen.program.program import Options


def functions_keys(options: Options) -> tuple[DispatchKey, ...]:
    """Return the keys with headers of C++ functions, in registration order."""
    wanted = options.functions_keys
    return tuple(key for key in options.dispatch_keys if key in wanted)


def ops_header(root_name: str, key: DispatchKey) -> str:
    """Return the path of the header that declares the functions of one operator under one key."""
    return f"ops/{root_name}_{key.lower()}_dispatch.h"


def dependency_group(key: DispatchKey, options: Options) -> str:
    """Return the dependency list for the files of `key`: code for some devices is built separately."""
    if is_cuda_dispatch_key(key):
        return "cuda_"
    # This list exists only in builds with XPU.
    if is_xpu_dispatch_key(key) and DispatchKey.XPU in options.dispatch_keys:
        return "xpu_"
    return ""
