"""Dispatch keys → names of the files that are made for each, and the dependency lists that name them.

SparseCUDA  →  RegisterSparseCUDA_0.cpp, in the list `cuda_`
CPU         →  CPUFunctions.h, CPUFunctions_inl.h, ops/add_cpu_dispatch.h
"""

from __future__ import annotations

from opgen.model import DispatchKey, is_cuda_dispatch_key, is_xpu_dispatch_key
from opgen.program.program import Options


def functions_keys(options: Options) -> tuple[DispatchKey, ...]:
    """Return the keys that headers of C++ functions are made for, in the order of registration."""
    wanted = options.functions_keys
    return tuple(key for key in options.dispatch_keys if key in wanted)


def ops_header(root_name: str, key: DispatchKey) -> str:
    """Return the path of the header that declares the functions of one operator under one key."""
    return f"ops/{root_name}_{key.lower()}_dispatch.h"


def dependency_group(key: DispatchKey, options: Options) -> str:
    """Return the dependency list for the files of `key`: code for some kinds of device is built apart."""
    if is_cuda_dispatch_key(key):
        return "cuda_"
    # There is such a list only if XPU itself is built.
    if is_xpu_dispatch_key(key) and DispatchKey.XPU in options.dispatch_keys:
        return "xpu_"
    return ""
