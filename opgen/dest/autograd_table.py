"""The emitters of the autograd generator, in the order in which they run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from opgen.on_demand import OnDemand
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program

EmitAutograd = Callable[[AutogradProgram, TemplateSet], Iterator[OutputFile]]


@dataclass(frozen=True, slots=True)
class AutogradEmitter:
    """One family of output files."""

    name: str
    """What the progress bar calls it."""
    emit: EmitAutograd
    cost: int
    """Its time, in milliseconds, on some machine or other."""
    registers: bool = False
    """Whether it registers kernels for autograd, and so is left out of a build without it."""


@dataclass(frozen=True, slots=True)
class OperatorEmitter:
    """One family of output files that doesn't depend on derivatives."""

    name: str
    emit: Callable[[Program, TemplateSet], Iterator[OutputFile]]
    cost: int
    """Its time, in milliseconds, on some machine or other."""
    registers: bool = False
    """As for the others."""


AUTOGRAD_EMITTERS: Final[tuple[AutogradEmitter, ...]] = (
    AutogradEmitter("nodes", OnDemand("opgen.dest.autograd_functions", "emit_autograd_function_headers"), cost=10),
    AutogradEmitter("nodes", OnDemand("opgen.dest.autograd_functions", "emit_autograd_function_sources"), cost=30),
    AutogradEmitter(
        "kernels", OnDemand("opgen.dest.variable_type", "emit_variable_type_header"), cost=1, registers=True
    ),
    AutogradEmitter("kernels", OnDemand("opgen.dest.variable_type", "emit_variable_type"), cost=300, registers=True),
    AutogradEmitter("views", OnDemand("opgen.dest.inplace_or_view", "emit_inplace_or_view"), cost=40, registers=True),
    AutogradEmitter("view replay", OnDemand("opgen.dest.view_funcs", "emit_view_funcs"), cost=10),
)
"""What is made of operators and their derivatives."""

OPERATOR_EMITTERS: Final[tuple[OperatorEmitter, ...]] = (
    OperatorEmitter("tracing", OnDemand("opgen.dest.trace_type", "emit_trace_type"), cost=100, registers=True),
    OperatorEmitter("factories", OnDemand("opgen.dest.variable_factories", "emit_variable_factories"), cost=10),
)
"""What is made of operators alone."""


def autograd_emitters(*, disable_autograd: bool) -> tuple[AutogradEmitter, ...]:
    """The emitters that a run needs, of those that need derivatives."""
    return tuple(emitter for emitter in AUTOGRAD_EMITTERS if not (disable_autograd and emitter.registers))


def operator_emitters(*, disable_autograd: bool) -> tuple[OperatorEmitter, ...]:
    """Those that need no derivatives."""
    return tuple(emitter for emitter in OPERATOR_EMITTERS if not (disable_autograd and emitter.registers))
