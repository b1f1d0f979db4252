"""`opgen gen_autograd`: operators and their derivatives → the C++ of torch's autograd.

    python -m opgen.gen_autograd native_functions.yaml tags.yaml out packaged/autograd

With `--bindings` it also writes what `opgen.commands.gen_python` does and reads the definitions only once.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Final

from opgen.commands._autograd import (
    DEPRECATED,
    DERIVATIVES,
    add_autograd_flags,
    autograd_work,
    emit_derived,
    templates_of,
)
from opgen.commands.gen_python import NODE_EMITTERS, bindings_emitter
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.autograd_functions import derive_autograd
from opgen.frontend.derivatives import check_formulas
from opgen.frontend.native_functions import load_program, load_readable_functions
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.inputs import autograd_templates
from opgen.run.work import Work, install_root, write_or_raise
from opgen.selective_build.selector import SelectiveBuilder

NODES: Final[tuple[Emitter[AutogradProgram, TemplateSet], ...]] = (
    Emitter("nodes", OnDemand("opgen.dest.autograd_functions", "emit_autograd_function_headers")),
    Emitter("nodes", OnDemand("opgen.dest.autograd_functions", "emit_autograd_function_sources")),
    Emitter("view replay", OnDemand("opgen.dest.view_funcs", "emit_view_funcs")),
)
"""What every build with derivatives has."""
KERNELS: Final[tuple[Emitter[AutogradProgram, TemplateSet], ...]] = (
    Emitter("kernels", OnDemand("opgen.dest.variable_type", "emit_variable_type_header")),
    Emitter("kernels", OnDemand("opgen.dest.variable_type", "emit_variable_type")),
    Emitter("views", OnDemand("opgen.dest.inplace_or_view", "emit_inplace_or_view")),
)
"""The kernels that record the graph, which `--disable-autograd` omits."""
TRACING: Final[tuple[Emitter[Program, TemplateSet], ...]] = (
    Emitter("tracing", OnDemand("opgen.dest.trace_type", "emit_trace_type"), cost=100),
)
"""The tracer's kernels, which need no derivatives; `--disable-autograd` omits them too."""
FACTORIES: Final[tuple[Emitter[Program, TemplateSet], ...]] = (
    Emitter("factories", OnDemand("opgen.dest.variable_factories", "emit_variable_factories"), cost=10),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    add_autograd_flags(parser)
    parser.add_argument(
        "--op-selection-yaml-path",
        "--op_selection_yaml_path",
        type=Path,
        metavar="FILE",
        help="write kernels for the operators that a selection file selects for training",
    )
    parser.add_argument(
        "--allow-unknown-operators",
        action="store_true",
        help="only warn about selected operators that are not defined here",
    )
    parser.add_argument(
        "--disable-autograd", "--disable_autograd", action="store_true", help="write no kernels that record the graph"
    )
    parser.add_argument(
        "--bindings",
        action="store_true",
        help="also write what gen_python does, which takes less time than two commands",
    )


def load(given: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators; the emitters that need derivatives read those."""
    program = load_program(
        given.native_functions,
        given.tags,
        log,
        selection_path=given.op_selection_yaml_path,
        allow_unknown_operators=given.allow_unknown_operators,
        torch=given.torch_version,
    )
    if program is None:
        readable = load_readable_functions(given.native_functions, given.torch_version)
        check_formulas(given.autograd / DERIVATIVES, readable, log)
        return None
    templates, derivatives, deprecated = templates_of(given), given.autograd / DERIVATIVES, None
    derive = partial(derive_autograd, program, derivatives, selector=program.selector)
    table = (*_kernels(given.disable_autograd), *(NODE_EMITTERS if given.bindings else ()))
    emitters = [
        Emitter("derivatives", partial(emit_derived, derive, table, templates), cost=500),
        *bind(_operators(given.disable_autograd), program, templates),
    ]
    if given.bindings:
        deprecated = given.autograd / DEPRECATED
        emitters.append(bindings_emitter(program, deprecated, templates))
    read = (given.op_selection_yaml_path, derivatives, deprecated)
    return autograd_work(given, tuple(emitters), templates, len(program.functions), *read)


def _kernels(disable_autograd: bool) -> tuple[Emitter[AutogradProgram, TemplateSet], ...]:
    return NODES if disable_autograd else (*NODES, *KERNELS)


def _operators(disable_autograd: bool) -> tuple[Emitter[Program, TemplateSet], ...]:
    return FACTORIES if disable_autograd else (*TRACING, *FACTORIES)


# ------------------------------------------------------------------------------- for programs


def gen_autograd(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
    operator_selector: SelectiveBuilder | None = None,
    disable_autograd: bool = False,
) -> None:
    """Write the C++ of autograd; raise `UserError` with every mistake."""
    folder = Path(autograd_dir)
    functions, tags = Path(native_functions_path), Path(tags_path)

    def load_work(log: Diagnostics) -> Work | None:
        program = load_autograd(functions, tags, folder / DERIVATIVES, log, operator_selector)
        if program is None:
            return None
        templates = TemplateSet(autograd_templates(folder))
        return Work(_bound(program, templates, disable_autograd), install_root(Path(out)), templates)

    write_or_raise(load_work)


def load_autograd(
    functions: Source | Path,
    tags: Source | Path,
    derivatives: Source | Path,
    log: Diagnostics,
    selector: SelectiveBuilder | None = None,
    *,
    selection_path: Path | None = None,
    allow_unknown_operators: bool = False,
) -> AutogradProgram | None:
    """Return the operators and derivatives of a run; None, with the reasons logged, if anything is wrong.

    The selector, or the selection file if there is none, says which operators get kernels.
    """
    program = load_program(
        functions, tags, log, selection_path=selection_path, allow_unknown_operators=allow_unknown_operators
    )
    if program is None:
        return None
    return derive_autograd(program, derivatives, log, selector or program.selector)


def generate(
    program: AutogradProgram, templates: TemplateSet, *, disable_autograd: bool = False
) -> tuple[OutputFile, ...]:
    """Return every file of a run as a value; raise one `UserError` with all mistakes in templates."""
    return collect_files(_bound(program, templates, disable_autograd))


def _bound(program: AutogradProgram, templates: TemplateSet, disable_autograd: bool) -> tuple[Emitter[[]], ...]:
    return (
        *bind(_kernels(disable_autograd), program, templates),
        *bind(_operators(disable_autograd), program.program, templates),
    )


COMMAND: Final = Command(
    name="gen_autograd",
    group=Group.TORCH,
    summary="write the kernels that record gradients, from derivatives.yaml",
    add_flags=add_flags,
    load=load,
)
