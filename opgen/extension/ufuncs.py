"""Operators defined by a loop body (`ufunc_inner_loop`) → their kernels for CPU and CUDA.

`UfuncCPU_blend.cpp` has the structured kernel with the loop, `UfuncCUDA_blend.cu` the same with a functor
for each combination of operands that may be CPU scalars.  The body is a template in `mylib::native::ufunc`, in the
author's header `ufunc/blend.h`.

    template <typename T>
    C10_HOST_DEVICE T blend(T self, T other, T weight) { return self + weight * (other - self); }
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.dest.ufunc import UfuncParts, render_cpu_switch, render_cuda_kernel
from opgen.dispatch_keys import DispatchKey
from opgen.extension.extension import Extension
from opgen.extension.includes import header, render_file
from opgen.model import NativeFunctionsGroup
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


def is_loop(file: OutputFile) -> bool:
    """Return whether a file has loop kernels."""
    return file.path.startswith("Ufunc")


def emit_ufuncs(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `UfuncCPU_….cpp` and `UfuncCUDA_….cu` for each operator with a loop body."""
    for group in extension.program.structured_groups:
        if not group.out.ufunc_inner_loop:
            continue
        for key in (DispatchKey.CPU, DispatchKey.CUDA):
            if key in extension.keys:
                yield _kernel(extension, templates, group, key)


def _kernel(extension: Extension, templates: TemplateSet, group: NativeFunctionsGroup, key: DispatchKey) -> OutputFile:
    parts = UfuncParts.of(group)
    is_cuda = key is DispatchKey.CUDA
    functors, switch = render_cuda_kernel(parts) if is_cuda else ("", render_cpu_switch(parts))
    file = render_file(
        extension,
        templates,
        f"Ufunc{key}_{parts.name}.{'cu' if is_cuda else 'cpp'}",
        f"Ufunc{key}.{'cu' if is_cuda else 'cpp'}",
        loop_header=f"ufunc/{parts.name}.h",
        native_header=header(extension, f"ops/{parts.name}_native.h"),
        functors=functors,
        loop_head=parts.loop_head(),
        switch=switch,
        impl=parts.impl(extension.program, key, f"{parts.name}_kernel", "*this"),
    )
    return OutputFile(file.path, file.text, group="cuda_" if is_cuda else "")
