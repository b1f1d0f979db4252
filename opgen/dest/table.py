"""The emitters of the ATen generator, in the order in which they run, and what each of them makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from opgen.on_demand import OnDemand
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

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


SHIM_HEADERS: Final = OnDemand("opgen.dest.aoti_c_shim", "emit_shim_headers")
SHIM_SOURCES: Final = OnDemand("opgen.dest.aoti_c_shim", "emit_shim_sources")

EMITTERS: Final[tuple[Emitter, ...]] = (
    Emitter("operators", "headers", OnDemand("opgen.dest.operators", "emit_operator_headers"), cost=6),
    Emitter("functions", "headers", OnDemand("opgen.dest.functions", "emit_function_headers"), cost=14),
    Emitter("Tensor", "headers", OnDemand("opgen.dest.tensor_body", "emit_tensor_headers")),
    Emitter("core lists", "headers", OnDemand("opgen.dest.core", "emit_core_headers")),
    Emitter("kernel declarations", "headers", OnDemand("opgen.dest.native_functions", "emit_native_headers"), cost=7),
    Emitter("meta declarations", "headers", OnDemand("opgen.dest.meta_functions", "emit_meta_headers")),
    Emitter("backend functions", "headers", OnDemand("opgen.dest.dispatch_headers", "emit_dispatch_headers"), cost=8),
    Emitter(
        "registration declarations", "headers", OnDemand("opgen.dest.declarations", "emit_registration_declarations")
    ),
    Emitter("vmap", "headers", OnDemand("opgen.dest.vmap_plumbing", "emit_vmap_plumbing"), cost=3),
    Emitter("operators", "sources", OnDemand("opgen.dest.operators", "emit_operator_sources"), cost=5),
    Emitter("functions", "sources", OnDemand("opgen.dest.functions", "emit_function_sources")),
    Emitter("Tensor", "sources", OnDemand("opgen.dest.tensor_body", "emit_tensor_sources")),
    Emitter("core lists", "sources", OnDemand("opgen.dest.core", "emit_core_sources")),
    Emitter(
        "registrations", "sources", OnDemand("opgen.dest.register_dispatch_key", "emit_register_dispatch_key"), cost=28
    ),
    Emitter("ufuncs", "sources", OnDemand("opgen.dest.ufunc", "emit_ufunc_sources")),
    Emitter("schemas", "sources", OnDemand("opgen.dest.register_schema", "emit_register_schema")),
    Emitter("backend selection", "sources", OnDemand("opgen.dest.backend_select", "emit_backend_select")),
    Emitter("functionalization", "sources", OnDemand("opgen.dest.functionalization", "emit_functionalization"), cost=9),
    Emitter("view inverses", "sources", OnDemand("opgen.dest.view_meta", "emit_functional_inverses")),
    Emitter("view replay", "sources", OnDemand("opgen.dest.view_meta", "emit_view_meta_classes")),
    Emitter("view copies", "sources", OnDemand("opgen.dest.view_copy", "emit_view_copy_kernels")),
    Emitter("shims", "sources", SHIM_SOURCES, wanted=lambda options: options.aoti_install_dir is not None),
    Emitter("shim headers", "sources", SHIM_HEADERS, wanted=lambda options: options.writes_shim_headers),
    Emitter(
        "declarations", "declarations_yaml", OnDemand("opgen.dest.declarations", "emit_declarations_yaml"), cost=12
    ),
)


def emitters_for(options: Options) -> tuple[Emitter, ...]:
    """The emitters that a run needs."""
    return tuple(e for e in EMITTERS if e.kind in options.generate and e.wanted(options))
