"""The emitters of the autograd generator, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from opgen.autograd_program import AutogradProgram
from opgen.dest.autograd_functions import emit_autograd_function_headers, emit_autograd_function_sources
from opgen.dest.inplace_or_view import emit_inplace_or_view
from opgen.dest.trace_type import emit_trace_type
from opgen.dest.variable_factories import emit_variable_factories
from opgen.dest.variable_type import emit_variable_type, emit_variable_type_header
from opgen.dest.view_funcs import emit_view_funcs
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

EmitAutograd = Callable[[AutogradProgram, TemplateSet], Iterator[OutputFile]]


@dataclass(frozen=True, slots=True)
class AutogradEmitter:
    """One family of output files."""

    name: str
    """What the progress bar calls it."""
    emit: EmitAutograd
    registers: bool = False
    """Whether it registers kernels for autograd, and so is left out of a build without it."""


AUTOGRAD_EMITTERS: Final[tuple[AutogradEmitter, ...]] = (
    AutogradEmitter("nodes", emit_autograd_function_headers),
    AutogradEmitter("nodes", emit_autograd_function_sources),
    AutogradEmitter("kernels", emit_variable_type_header, registers=True),
    AutogradEmitter("kernels", emit_variable_type, registers=True),
    AutogradEmitter("views", emit_inplace_or_view, registers=True),
    AutogradEmitter("tracing", emit_trace_type, registers=True),
    AutogradEmitter("factories", emit_variable_factories),
    AutogradEmitter("view replay", emit_view_funcs),
)


def autograd_emitters(*, disable_autograd: bool) -> tuple[AutogradEmitter, ...]:
    """The emitters that a run needs."""
    return tuple(emitter for emitter in AUTOGRAD_EMITTERS if not (disable_autograd and emitter.registers))
