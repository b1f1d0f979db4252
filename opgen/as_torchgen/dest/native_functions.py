"""An operator or group and a key's kernels → the declarations of its kernels."""

from __future__ import annotations

from opgen.as_torchgen.api.types.signatures import kernel_signature
from opgen.as_torchgen.context import with_native_function_and_index
from opgen.as_torchgen.programs import program_of
from opgen.dest.native_functions import EXPORT, render_structured_class
from opgen.model import BackendIndex, NativeFunction, NativeFunctionsGroup
from opgen.selective_build.selector import SelectiveBuilder


@with_native_function_and_index
def compute_native_function_declaration(
    g: NativeFunctionsGroup | NativeFunction, backend_index: BackendIndex
) -> list[str]:
    """Return the declarations: a class for a structured kernel, functions for others, `static` ones if external."""
    kernel = backend_index.get_kernel(g)
    if isinstance(g, NativeFunctionsGroup):
        if kernel is not None and kernel.structured:
            return [render_structured_class(program_of(SelectiveBuilder.get_nop_selector()), backend_index, kernel, g)]
        return list(dict.fromkeys(line for f in g.functions() for line in _declared(f, backend_index)))
    return _declared(g, backend_index)


def _declared(function: NativeFunction, index: BackendIndex) -> list[str]:
    kernel = index.get_kernel(function)
    if kernel is None:
        return []
    prefix = "static" if index.external else EXPORT
    return [f"{prefix} {kernel_signature(function, index).decl(name=kernel.kernel)};"]
