"""A dispatch key → the head of its registrations: includes, and functions that allocate.

The functions are those that the classes around structured kernels call, see `register_structured`:

    create_out          allocates a result, as the key's backend does
    resize_out          resizes an out argument to the size of the result
    check_inplace       rejects a `self` whose size isn't that of the result
    maybe_create_proxy  allocates a proxy for an output with other strides
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from opgen.dest.dispatch_key_files import functions_keys, ops_header
from opgen.dest.group_kernels import GroupKernels
from opgen.dest.includes import ops_include
from opgen.model import STRUCTURED_DISPATCH_KEYS, DispatchKey, is_cuda_dispatch_key
from opgen.output.snippets import Snippets
from opgen.program.program import Options
from opgen.releases.release import Release

_SNIPPETS: Final = Snippets("register_helpers.cpp")

_CUDA_INCLUDES: Final = (
    "#include <c10/cuda/CUDAGuard.h>",
    "#include <ATen/cuda/ATenCUDAGeneral.h>",
    "#include <ATen/cuda/CUDADevice.h>",
    "#include <ATen/cuda/CUDAContext.h>",
)
_ALLOCATE_THROUGH_DISPATCHER: Final = frozenset(
    {
        DispatchKey.CompositeExplicitAutogradNonFunctional,
        DispatchKey.QuantizedCPU,
        DispatchKey.QuantizedCUDA,
    }
)
"""Keys whose results are allocated by `at::empty`; of other keys, only devices allocate results."""


def helper_functions(key: DispatchKey) -> list[str]:
    """Return the functions that the registrations of `key` may call."""
    if key is DispatchKey.CompositeImplicitAutogradNestedTensor:
        return []
    functions = [_create_out(key)]
    if key is not DispatchKey.CompositeExplicitAutogradNonFunctional:
        functions.append(_SNIPPETS.render("resize_out").removesuffix("\n"))
    functions += [_SNIPPETS.render("check_inplace").removesuffix("\n"), _maybe_create_proxy(key)]
    return [
        'C10_DIAGNOSTIC_PUSH_AND_IGNORED_IF_DEFINED("-Wunused-function")',
        *filter(None, functions),
        "C10_DIAGNOSTIC_POP()",
    ]


def _create_out(key: DispatchKey) -> str:
    empty = _allocator(key, "empty")
    if not empty:
        return ""
    # The meta function may name any device; its results are on the meta device.
    options = "options.device(at::kMeta)" if key is DispatchKey.Meta else "options"
    return _SNIPPETS.render(
        "create_out", empty=empty, options=options, empty_strided=_allocator(key, "empty_strided")
    ).removesuffix("\n")


def _maybe_create_proxy(key: DispatchKey) -> str:
    empty_strided = _allocator(key, "empty_strided")
    if not empty_strided:
        return ""
    return _SNIPPETS.render("maybe_create_proxy", empty_strided=empty_strided).removesuffix("\n")


def _allocator(key: DispatchKey, name: str) -> str:
    """Return the function that implements `at::name` for `key`; empty if there is none."""
    if _has_allocator(key):
        return f"at::detail::{name}_{key.lower()}"
    return f"at::{name}" if key in _ALLOCATE_THROUGH_DISPATCHER else ""


def _has_allocator(key: DispatchKey) -> bool:
    """Return whether the key's backend has its own functions that allocate."""
    return key in STRUCTURED_DISPATCH_KEYS or key is DispatchKey.Meta


# ----------------------------------------------------------------------------------- includes


def device_includes(key: DispatchKey, options: Options, release: Release) -> list[str]:
    """Return the headers of CUDA, or of HIP under ROCm, for kernels that run there."""
    return cuda_includes(release, rocm=options.rocm) if is_cuda_dispatch_key(key) else []


def cuda_includes(release: Release, *, rocm: bool) -> list[str]:
    """Return the headers of CUDA, or of HIP under ROCm."""
    guard, *others = _CUDA_INCLUDES
    if not rocm:
        return [guard, *others]
    return [f"#include <{release.rocm_guard_header}>", *map(_for_rocm, others)]


def helper_includes(key: DispatchKey, options: Options) -> list[str]:
    """Return the headers that the helper functions of `key` need."""
    each = options.per_operator_headers
    includes = [ops_include("as_strided", "_native") if each else "#include <ATen/NativeFunctions.h>"]
    if _has_allocator(key):
        includes.append(_allocator_include(key, options))
    elif each:
        includes += map(ops_include, ("empty", "empty_strided", "_copy_from_and_resize", "_copy_from"))
    else:
        includes.append("#include <ATen/Functions.h>")
    return [*includes, "#include <c10/macros/Macros.h>"]


def _allocator_include(key: DispatchKey, options: Options) -> str:
    if key in (DispatchKey.CPU, DispatchKey.Meta):
        return "#include <ATen/EmptyTensor.h>"
    folder = "native/mtia" if key is DispatchKey.MTIA else key.lower()
    include = f"#include <ATen/{folder}/EmptyTensor.h>"
    return _for_rocm(include) if options.rocm and key is DispatchKey.CUDA else include


def _for_rocm(include: str) -> str:
    """Return the header's name after hipification."""
    return include.replace("cuda", "hip").replace("CUDA", "HIP")


def operator_includes(key: DispatchKey, group_kernels: Iterable[GroupKernels], options: Options) -> list[str]:
    """Return the headers that declare the kernels of `key`, and the functions generated from them."""
    return kernel_includes(key, {each.first.root_name for each in group_kernels if each.has_kernel}, options)


def kernel_includes(key: DispatchKey, root_names: Iterable[str], options: Options) -> list[str]:
    """Return the headers that declare the kernels of these operators, and the functions generated from them."""
    has_functions = key in functions_keys(options)
    # A default kernel of this key calls the operator's out form.
    calls_operators = key is DispatchKey.CompositeExplicitAutogradNonFunctional
    if not options.per_operator_headers:
        return [
            "#include <ATen/NativeFunctions.h>",
            *(["#include <ATen/Functions.h>"] if calls_operators else []),
            *([f"#include <ATen/{key}Functions.h>"] if has_functions else []),
        ]
    includes: set[str] = set()
    for name in root_names:
        includes.add(ops_include(name, "_native"))
        if calls_operators:
            includes.add(ops_include(name))
        if has_functions:
            includes.add(f"#include <ATen/{ops_header(name, key)}>")
    return sorted(includes)
