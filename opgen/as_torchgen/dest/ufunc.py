"""A ufunc's group → the definitions of its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from opgen.api import ufunc as names
from opgen.as_torchgen.context import with_native_function
from opgen.as_torchgen.programs import release_of_torch
from opgen.dest.ufunc import emit_ufunc_sources
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.model import DEFAULT_KERNEL_NAMESPACE, BackendIndex, BackendMetadata, DispatchKey, NativeFunctionsGroup
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program
from opgen.selective_build.selector import SelectiveBuilder


@dataclass(frozen=True, slots=True)
class _Definitions:
    """Templates that contain only the definitions."""

    def render(self, name: str, env: Mapping[str, object]) -> str:
        """Return the definitions of any file."""
        del name
        return str(env["native_definitions"])


def _definitions(g: NativeFunctionsGroup, key: DispatchKey) -> list[str]:
    kernel = BackendMetadata(names.kernel_name(g, key), True, DEFAULT_KERNEL_NAMESPACE)
    index = BackendIndex(key, True, False, False, {g.out.func.name: kernel})
    selector = SelectiveBuilder.get_nop_selector()
    program = Program((), (g,), (), FrozenMap({key: index}), selector, release_of_torch(), FrozenMap())
    options = Options(install_dir=Path(), dispatch_keys=(key,))
    return [file.text for file in emit_ufunc_sources(program, options, cast("TemplateSet", _Definitions()))]


@with_native_function
def compute_ufunc_cpu(g: NativeFunctionsGroup) -> str:
    """Return the kernel for the CPU, which calls a stub."""
    return _definitions(g, DispatchKey.CPU)[0]


@with_native_function
def compute_ufunc_cpu_kernel(g: NativeFunctionsGroup) -> str:
    """Return the loop behind the stub."""
    return _definitions(g, DispatchKey.CPU)[1]


@with_native_function
def compute_ufunc_cuda(g: NativeFunctionsGroup) -> str:
    """Return the kernel for CUDA: functors, the loop and the kernel."""
    return _definitions(g, DispatchKey.CUDA)[0]
