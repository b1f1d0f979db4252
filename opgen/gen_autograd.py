"""The autograd generator: operators and their derivatives in, the C++ of torch's autograd out.

    python -m opgen.gen_autograd native_functions.yaml tags.yaml out packaged/autograd

This is a shell: definitions and derivatives.yaml to a program, the program to files, files to disk.
What is written is listed in `opgen.dest.autograd_table`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from opgen.api import cpp
from opgen.api.autograd import DEFAULT_KEY
from opgen.api.autograd_matching import match_differentiability_info
from opgen.autograd_program import AutogradProgram
from opgen.dest.autograd_table import autograd_emitters
from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.entry import run_as_program
from opgen.frontend.derivatives import load_derivatives, used_dispatch_keys
from opgen.frontend.native_functions import load_program
from opgen.inputs import autograd_templates
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.program import Program
from opgen.selective_build.selector import SelectiveBuilder
from opgen.shell import autograd_parser, collect_files, run_command

__all__ = ["entry_point", "gen_autograd", "generate", "load_autograd", "main"]


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
    program = load_autograd(functions, tags, folder / "derivatives.yaml", log, operator_selector)
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


def derive_autograd(
    program: Program, derivatives: Source | Path, log: Diagnostics, selector: SelectiveBuilder
) -> AutogradProgram | None:
    """The operators of a program with their derivatives; None, with the reasons logged, if any is wrong."""
    infos = load_derivatives(derivatives, program.functions, program.view_groups, log)
    if log.has_errors:
        return None
    # All kernels are registered in torch's own namespace.
    own = (function for function in program.functions if function.namespace == "aten")
    selected = filter(selector.is_native_function_selected_for_training, own)
    functions = sorted(selected, key=lambda function: cpp.name(function.func))
    matched = match_differentiability_info(functions, infos)
    return AutogradProgram(
        program=program,
        functions=matched.functions,
        infos=tuple(info for by_key in infos.values() for info in by_key.values()),
        list_infos=matched.derived,
        dispatch_keys=tuple(sorted(used_dispatch_keys(infos), key=lambda key: (key != DEFAULT_KEY, key))),
    )


def generate(
    program: AutogradProgram, templates: TemplateSet, *, disable_autograd: bool = False, quiet: bool = True
) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    emitters = autograd_emitters(disable_autograd=disable_autograd)
    return collect_files(emitters, lambda emitter: emitter.emit(program, templates), quiet=quiet)


# ---------------------------------------------------------------------------------- command


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_command(build_parser(), _run, argv)


def build_parser() -> argparse.ArgumentParser:
    """The command line of the autograd generator."""
    parser = autograd_parser("gen_autograd", "Generate the sources of autograd.")
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
    return parser


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    program = load_autograd(
        given.native_functions,
        given.tags,
        given.autograd / "derivatives.yaml",
        log,
        selection_path=given.op_selection_yaml_path,
        allow_unknown_operators=given.allow_unknown_operators,
    )
    if program is None:
        return None
    templates = TemplateSet(autograd_templates(given.autograd))
    files = generate(program, templates, disable_autograd=given.disable_autograd, quiet=given.quiet)
    return write_files(files, {"install": given.out}, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
