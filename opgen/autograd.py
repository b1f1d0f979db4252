"""The autograd generator: operators and their derivatives in, the C++ of torch's autograd out.

This is a shell: definitions and derivatives.yaml to a program, the program to files, files to disk.
What is written is listed in `opgen.dest.autograd_table`; `opgen.gen_autograd` is the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from opgen.autograd_run import Command, Plan, derived, run_pieces
from opgen.bindings import DEPRECATED, DERIVATIVES, binding_piece
from opgen.dest.autograd_table import AutogradEmitter, EmitAutograd, autograd_emitters, operator_emitters
from opgen.dest.python_table import NODE_EMITTERS, NodeEmitter
from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend.native_functions import load_program
from opgen.on_demand import OnDemand
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import write_files
from opgen.program.autograd import AutogradProgram
from opgen.program.program import Program
from opgen.run.inputs import autograd_templates
from opgen.run.shares import LatePiece, Later, Piece
from opgen.run.shell import autograd_parser, collect_files
from opgen.selective_build.selector import SelectiveBuilder

if TYPE_CHECKING:
    from opgen.frontend.autograd_functions import derive_autograd
else:
    # Helpers are at work before derivatives are read.
    derive_autograd = OnDemand("opgen.frontend.autograd_functions", "derive_autograd")

__all__ = ["gen_autograd", "generate", "load_autograd", "main"]

COMMAND: Final = "gen_autograd"


def gen_autograd(
    native_functions_path: str | os.PathLike[str],
    tags_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
    operator_selector: SelectiveBuilder | None = None,
    disable_autograd: bool = False,
) -> None:
    """Writes the C++ of autograd; raises UserError with every mistake found."""
    log, folder = Diagnostics(), Path(autograd_dir)
    functions, tags = Path(native_functions_path), Path(tags_path)
    program = load_autograd(functions, tags, folder / DERIVATIVES, log, operator_selector)
    if program is None:
        raise UserError(*log.found)
    files = generate(program, TemplateSet(autograd_templates(folder)), disable_autograd=disable_autograd)
    write_files(files, {"install": Path(out)})


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
    """The program of a run; None, with the reasons logged, if anything in its inputs is wrong.

    The selector, or else what the selection file selects, says which operators get kernels.
    """
    program = load_program(
        functions, tags, log, selection_path=selection_path, allow_unknown_operators=allow_unknown_operators
    )
    if program is None:
        return None
    return derive_autograd(program, derivatives, log, selector or program.selector)


def generate(
    program: AutogradProgram, templates: TemplateSet, *, disable_autograd: bool = False, quiet: bool = True
) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    emitters = autograd_emitters(disable_autograd=disable_autograd)
    others = operator_emitters(disable_autograd=disable_autograd)
    return (
        *collect_files(emitters, lambda emitter: emitter.emit(program, templates), quiet=quiet),
        *collect_files(others, lambda emitter: emitter.emit(program.program, templates), quiet=quiet),
    )


# ---------------------------------------------------------------------------------- command


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_pieces(Command(COMMAND, build_parser(), _plan), argv)


def build_parser() -> argparse.ArgumentParser:
    """The command line of the autograd generator."""
    parser = autograd_parser(COMMAND, "Generate the sources of autograd.")
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
        help="only warn of selected operators that are not defined here",
    )
    parser.add_argument(
        "--disable-autograd", "--disable_autograd", action="store_true", help="write no kernels that record the graph"
    )
    parser.add_argument(
        "--bindings",
        action="store_true",
        help="also write what gen_python does, which takes less time than two commands",
    )
    return parser


def _plan(given: argparse.Namespace, log: Diagnostics) -> Plan | None:
    """Reads the operators; their derivatives are read by the piece that needs them."""
    program = load_program(
        given.native_functions,
        given.tags,
        log,
        selection_path=given.op_selection_yaml_path,
        allow_unknown_operators=given.allow_unknown_operators,
        torch=given.torch_version,
    )
    if program is None:
        return None
    templates = TemplateSet(autograd_templates(given.autograd))
    pieces = _operator_pieces(program, given, templates)
    read = [given.native_functions, given.tags, given.op_selection_yaml_path, given.autograd / DERIVATIVES]
    if given.bindings:
        pieces.insert(0, binding_piece(program, given.autograd / DEPRECATED, templates))
        read.append(given.autograd / DEPRECATED)
    later = _kernels(program, given, templates)
    return Plan(tuple(pieces), templates, tuple(read), len(program.functions), later)


def _kernels(program: Program, given: argparse.Namespace, templates: TemplateSet) -> Later:
    """All that needs derivatives, which are matched with operators once."""
    emitters: list[AutogradEmitter | NodeEmitter] = [*autograd_emitters(disable_autograd=given.disable_autograd)]
    if given.bindings:
        emitters += NODE_EMITTERS
    derive = partial(derive_autograd, program, given.autograd / DERIVATIVES, selector=program.selector)
    pieces = [LatePiece(each.name, each.cost, partial(_emit, each.emit, templates)) for each in emitters]
    return Later("derivatives", partial(derived, derive), tuple(pieces))


def _emit(emit: EmitAutograd, templates: TemplateSet, program: AutogradProgram) -> Iterable[OutputFile]:
    return emit(program, templates)


def _operator_pieces(program: Program, given: argparse.Namespace, templates: TemplateSet) -> list[Piece]:
    emitters = operator_emitters(disable_autograd=given.disable_autograd)
    return [Piece(emitter.name, emitter.cost, partial(emitter.emit, program, templates)) for emitter in emitters]
