"""The emitters of the ATen generator, in the order in which they run, and what each of them makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from opgen.dest.aoti_c_shim import emit_shim_headers, emit_shim_sources
from opgen.dest.backend_select import emit_backend_select
from opgen.dest.core import emit_core_headers, emit_core_sources
from opgen.dest.declarations import emit_declarations_yaml, emit_registration_declarations
from opgen.dest.dispatch_headers import emit_dispatch_headers
from opgen.dest.functionalization import emit_functionalization
from opgen.dest.functions import emit_function_headers, emit_function_sources
from opgen.dest.meta_functions import emit_meta_headers
from opgen.dest.native_functions import emit_native_headers
from opgen.dest.operators import emit_operator_headers, emit_operator_sources
from opgen.dest.register_dispatch_key import emit_register_dispatch_key
from opgen.dest.register_schema import emit_register_schema
from opgen.dest.tensor_body import emit_tensor_headers, emit_tensor_sources
from opgen.dest.ufunc import emit_ufunc_sources
from opgen.dest.view_copy import emit_view_copy_kernels
from opgen.dest.view_meta import emit_functional_inverses, emit_view_meta_classes
from opgen.dest.vmap_plumbing import emit_vmap_plumbing
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program import Options, Program
from opgen.values import dataclass

Emit = Callable[[Program, Options, TemplateSet], Iterator[OutputFile]]


@dataclass(frozen=True, slots=True)
class Emitter:
    """One family of output files."""

    name: str
    """What the progress bar calls it."""
    kind: str
    """The word of `--generate` that asks for it."""
    emit: Emit
    wanted: Callable[[Options], bool] = lambda options: True
    """Whether the run's other flags ask for it."""
    cost: int = 1
    """About how long it takes, in hundredths of a whole run; those that take longest are best begun first."""


EMITTERS: Final[tuple[Emitter, ...]] = (
    Emitter("operators", "headers", emit_operator_headers, cost=6),
    Emitter("functions", "headers", emit_function_headers, cost=14),
    Emitter("Tensor", "headers", emit_tensor_headers),
    Emitter("core lists", "headers", emit_core_headers),
    Emitter("kernel declarations", "headers", emit_native_headers, cost=7),
    Emitter("meta declarations", "headers", emit_meta_headers),
    Emitter("backend functions", "headers", emit_dispatch_headers, cost=8),
    Emitter("registration declarations", "headers", emit_registration_declarations),
    Emitter("vmap", "headers", emit_vmap_plumbing, cost=3),
    Emitter("operators", "sources", emit_operator_sources, cost=5),
    Emitter("functions", "sources", emit_function_sources),
    Emitter("Tensor", "sources", emit_tensor_sources),
    Emitter("core lists", "sources", emit_core_sources),
    Emitter("registrations", "sources", emit_register_dispatch_key, cost=28),
    Emitter("ufuncs", "sources", emit_ufunc_sources),
    Emitter("schemas", "sources", emit_register_schema),
    Emitter("backend selection", "sources", emit_backend_select),
    Emitter("functionalization", "sources", emit_functionalization, cost=9),
    Emitter("view inverses", "sources", emit_functional_inverses),
    Emitter("view replay", "sources", emit_view_meta_classes),
    Emitter("view copies", "sources", emit_view_copy_kernels),
    Emitter("shims", "sources", emit_shim_sources, wanted=lambda options: options.aoti_install_dir is not None),
    Emitter("shim headers", "sources", emit_shim_headers, wanted=lambda options: options.writes_shim_headers),
    Emitter("declarations", "declarations_yaml", emit_declarations_yaml, cost=12),
)


def emitters_for(options: Options) -> tuple[Emitter, ...]:
    """The emitters that a run needs."""
    return tuple(e for e in EMITTERS if e.kind in options.generate and e.wanted(options))
