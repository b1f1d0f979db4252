"""The tables of emitters that need derivatives, and how derivatives are loaded for them.

`gen_autograd` and `gen_python` name these functions in their tables, so that only the worker that emits the kernels
of autograd reads derivatives.yaml and imports this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from opgen.commands._autograd import emit_derived
from opgen.frontend.autograd_functions import derive_autograd
from opgen.output.emitter import Emitter, OnDemand
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program

NODES: Final[tuple[Emitter[AutogradProgram, TemplateSet], ...]] = (
    Emitter("nodes", OnDemand("opgen.dest.autograd_functions", "emit_autograd_function_headers")),
    Emitter("nodes", OnDemand("opgen.dest.autograd_functions", "emit_autograd_function_sources")),
    Emitter("view replay", OnDemand("opgen.dest.view_funcs", "emit_view_funcs")),
)
"""The emitters of every build with derivatives."""
KERNELS: Final[tuple[Emitter[AutogradProgram, TemplateSet], ...]] = (
    Emitter("kernels", OnDemand("opgen.dest.variable_type", "emit_variable_type_header")),
    Emitter("kernels", OnDemand("opgen.dest.variable_type", "emit_variable_type")),
    Emitter("views", OnDemand("opgen.dest.inplace_or_view", "emit_inplace_or_view")),
)
"""The emitters of kernels that record the graph, which `--disable-autograd` omits."""
PYTHON_NODES: Final[tuple[Emitter[AutogradProgram, TemplateSet], ...]] = (
    Emitter("nodes", OnDemand("opgen.dest.python_nodes", "emit_python_node_headers")),
    Emitter("nodes", OnDemand("opgen.dest.python_nodes", "emit_python_node_sources")),
)
"""The emitters of the Python types of autograd nodes."""


def kernel_emitters(*, disable_autograd: bool) -> tuple[Emitter[AutogradProgram, TemplateSet], ...]:
    """Return the emitters of a run of `gen_autograd` that need derivatives."""
    return NODES if disable_autograd else (*NODES, *KERNELS)


def emit_kernels(
    program: Program, derivatives: Path, templates: TemplateSet, disable_autograd: bool, bindings: bool
) -> Iterable[OutputFile]:
    """Read derivatives and return the files that need them, the Python types of nodes included if `bindings`."""
    table = (*kernel_emitters(disable_autograd=disable_autograd), *(PYTHON_NODES if bindings else ()))
    return emit_derived(_derivation(program, derivatives), table, templates)


def emit_python_nodes(program: Program, derivatives: Path, templates: TemplateSet) -> Iterable[OutputFile]:
    """Read derivatives and return the Python types of autograd's nodes."""
    return emit_derived(_derivation(program, derivatives), PYTHON_NODES, templates)


def _derivation(program: Program, derivatives: Path) -> partial[AutogradProgram | None]:
    return partial(derive_autograd, program, derivatives, selector=program.selector)
