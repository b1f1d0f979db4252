"""The generator of type stubs: operators in, what type checkers are told of them out.

    python -m opgen.gen_pyi native_functions.yaml tags.yaml out packaged/autograd

The files are laid out as in torch: `_C/_VariableFunctions.pyi`, `return_types.pyi` and so on.  Of the
last folder only `deprecated.yaml` is read.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from opgen.dest.python_table import STUB_EMITTERS
from opgen.diagnostics import Diagnostics, UserError
from opgen.entry import run_as_program
from opgen.gen_python import load_python
from opgen.output.files import OutputFile
from opgen.output.writer import WriteReport, write_files
from opgen.python_program import PythonProgram
from opgen.shell import autograd_parser, run_command

__all__ = ["entry_point", "gen_pyi", "generate", "main"]


def gen_pyi(
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    deprecated_yaml_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
) -> None:
    """Writes the stubs; raises UserError with every mistake found."""
    log = Diagnostics()
    program = load_python(Path(native_yaml_path), Path(tags_yaml_path), Path(deprecated_yaml_path), log)
    if program is None:
        raise UserError(*log.found)
    write_files(generate(program), {"install": Path(out)})


def generate(program: PythonProgram) -> tuple[OutputFile, ...]:
    """Every stub file, as a value."""
    return tuple(file for emitter in STUB_EMITTERS for file in emitter.emit(program))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_command(autograd_parser("gen_pyi", "Generate type stubs of the functions of Python."), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    program = load_python(given.native_functions, given.tags, given.autograd / "deprecated.yaml", log)
    return None if program is None else write_files(generate(program), {"install": given.out}, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
