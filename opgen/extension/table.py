"""The emitters of extensions, in the order in which they run, and what each of them makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from opgen.extension.autograd_fallback import emit_autograd_fallback
from opgen.extension.batching import emit_batching
from opgen.extension.composites import emit_composites
from opgen.extension.derivatives import emit_derivatives
from opgen.extension.extension import Extension
from opgen.extension.functionalization import emit_functionalization
from opgen.extension.kernels import emit_native_headers
from opgen.extension.operators import emit_function_headers, emit_operator_headers, emit_operator_sources
from opgen.extension.python_bindings import emit_python_bindings
from opgen.extension.python_package import emit_python_package
from opgen.extension.registrations import emit_backend_headers, emit_registrations, emit_structured_headers
from opgen.extension.schemas import emit_schemas
from opgen.extension.ufuncs import emit_ufuncs
from opgen.extension.versions import emit_versions, emit_view_helpers
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

EmitExtension = Callable[[Extension, TemplateSet], Iterator[OutputFile]]


@dataclass(frozen=True, slots=True)
class ExtensionEmitter:
    """One family of output files."""

    name: str
    """What the progress bar calls it."""
    emit: EmitExtension


EXTENSION_EMITTERS: Final[tuple[ExtensionEmitter, ...]] = (
    ExtensionEmitter("operators", emit_operator_headers),
    ExtensionEmitter("functions", emit_function_headers),
    ExtensionEmitter("kernel declarations", emit_native_headers),
    ExtensionEmitter("backend functions", emit_backend_headers),
    ExtensionEmitter("structured kernels", emit_structured_headers),
    ExtensionEmitter("operators", emit_operator_sources),
    ExtensionEmitter("schemas", emit_schemas),
    ExtensionEmitter("registrations", emit_registrations),
    ExtensionEmitter("ufuncs", emit_ufuncs),
    ExtensionEmitter("derived forms", emit_composites),
    ExtensionEmitter("functionalization", emit_functionalization),
    ExtensionEmitter("vmap", emit_batching),
    ExtensionEmitter("views and writes", emit_view_helpers),
    ExtensionEmitter("views and writes", emit_versions),
    ExtensionEmitter("derivatives", emit_derivatives),
    ExtensionEmitter("autograd", emit_autograd_fallback),
    ExtensionEmitter("bindings to Python", emit_python_bindings),
    ExtensionEmitter("Python package", emit_python_package),
)
