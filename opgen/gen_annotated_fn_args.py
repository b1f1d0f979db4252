"""The generator of `annotated_fn_args.py`: operators in, the arguments that calls from Python must give out.

python -m opgen.gen_annotated_fn_args native_functions.yaml tags.yaml out packaged/autograd
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from opgen.dest.annotated_fn_args import emit_annotated_fn_args
from opgen.diagnostics import Diagnostics, UserError
from opgen.entry import run_as_program
from opgen.frontend.native_functions import load_program
from opgen.frontend.python_functions import check_bindings
from opgen.inputs import autograd_templates
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.program import Program
from opgen.shell import autograd_parser, run_command

__all__ = ["entry_point", "gen_annotated", "main"]


def gen_annotated(
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
) -> None:
    """Writes `annotated_fn_args.py`; raises UserError with every mistake found."""
    log = Diagnostics()
    program = _load(Path(native_yaml_path), Path(tags_yaml_path), log)
    if program is None:
        raise UserError(*log.found)
    _write(program, Path(autograd_dir), Path(out), dry_run=False)


def _load(functions: Path, tags: Path, log: Diagnostics) -> Program | None:
    program = load_program(functions, tags, log)
    if program is not None:
        check_bindings(program, log)
    return None if log.has_errors else program


def _write(program: Program, autograd: Path, out: Path, *, dry_run: bool) -> WriteReport:
    files = emit_annotated_fn_args(program, TemplateSet(autograd_templates(autograd)))
    return write_files(tuple(files), {"install": out}, dry_run=dry_run)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    description = "Generate the arguments from which torch's tests call the functions of Python."
    return run_command(autograd_parser("gen_annotated_fn_args", description), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    program = _load(given.native_functions, given.tags, log)
    return None if program is None else _write(program, given.autograd, given.out, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
