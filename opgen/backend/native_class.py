"""An out-of-tree backend → `<Key>NativeFunctions.h`: the class with its kernels as static members.

The author defines the members in separate sources; the registrations call them.

    namespace my::ops {
    struct PrivateUse1NativeFunctions {
    static at::Tensor abs(const at::Tensor & self);
    static at::Tensor view_symint(const at::Tensor & self, c10::SymIntArrayRef size);
    };
    } // namespace my::ops
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.backend.backend_yaml import ExternalBackend
from opgen.model import BackendIndex
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program

_TEMPLATE: Final = "DispatchKeyNativeFunctions.h"


def class_header(backend: ExternalBackend) -> str:
    """Return the name of the header that declares the class."""
    return f"{backend.key}NativeFunctions.h"


def emit_class_header(backend: ExternalBackend, program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the header of the class, if the backend has any kernel."""
    if not backend.indices:
        return
    namespaces = backend.cpp_namespace.split("::")
    env = {
        "class_name": backend.class_name,
        "namespace_prologue": "\n".join([f"namespace {name} {{" for name in namespaces]),
        "namespace_epilogue": "\n".join([f"}} // namespace {name}" for name in reversed(namespaces)]),
        "dispatch_declarations": [line for index in backend.indices for line in _declarations(index, program)],
    }
    yield OutputFile(class_header(backend), templates.render(_TEMPLATE, env))


def _declarations(index: BackendIndex, program: Program) -> list[str]:
    """Return the declarations of the kernels of one key, sorted and without duplicates."""
    kernels = ((f, index.index.get(f.func.name)) for f in program.functions)
    signatures = ((program.signatures(f).kernel(index), kernel) for f, kernel in kernels if kernel is not None)
    return sorted({f"static {signature.defn(kernel.kernel)};" for signature, kernel in signatures})
