"""The generator of unboxing kernels: operators and a selection in, kernels for TorchScript's interpreter out.

    python -m opgen.gen_unboxing --from-torch --op-registration-allowlist aten::add aten::relu --install-dir out

This is a shell: definitions and a selection to a program, the program to files, files to disk.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NoReturn

from opgen.dest.unboxing import emit_unboxing
from opgen.diagnostics import Diagnostics
from opgen.output.dependencies import emit_dependencies
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.program.program import Program
from opgen.run.entry import run_as_program
from opgen.run.flags import add_dry_run, add_talk
from opgen.run.selection_flags import (
    add_operators,
    add_selection,
    known_operators,
    load_definitions,
    load_selector,
    templates_beside,
)
from opgen.run.shell import run_command

__all__ = ["build_parser", "entry_point", "generate", "main"]

_DEPENDENCIES: Final = "dependencies"


def generate(program: Program, templates: TemplateSet) -> tuple[OutputFile, ...]:
    """Every file of a run, as values; mistakes in templates are one `UserError`."""
    return tuple(emit_unboxing(program, templates))


def build_parser() -> argparse.ArgumentParser:
    """The command line: that of torch's generator of these files, and a few flags of our own."""
    parser = argparse.ArgumentParser(
        prog="opgen gen_unboxing", description="Generate kernels for TorchScript's interpreter.", allow_abbrev=False
    )
    add_operators(parser)
    parser.add_argument(
        "-d", "--install-dir", "--install_dir", type=Path, required=True, metavar="DIR", help="folder to write to"
    )
    parser.add_argument(
        "-o",
        "--output-dependencies",
        "--output_dependencies",
        type=Path,
        metavar="FILE",
        help="list the files written, as a variable of CMake",
    )
    add_selection(parser)
    add_dry_run(parser)
    add_talk(parser)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_command(build_parser(), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    loaded = load_definitions(given, log)
    selector = load_selector(given, log, known_operators(loaded[1] if loaded else None, given))
    if loaded is None or selector is None or log.has_errors:
        return None
    inputs, program = loaded
    files = generate(replace(program, selector=selector), templates_beside(inputs))
    roots = {"install": given.install_dir}
    if given.output_dependencies is not None:
        files += tuple(emit_dependencies(files, roots, given.output_dependencies, ("",)))
        roots[_DEPENDENCIES] = given.output_dependencies.parent
    return write_files(files, roots, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
