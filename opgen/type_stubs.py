"""The generator of type stubs: operators in, what type checkers are told of them out.

The files are laid out as in torch: `_C/_VariableFunctions.pyi`, `return_types.pyi` and so on.  Of the
folder of autograd's inputs only `deprecated.yaml` is read.  `opgen.gen_pyi` is the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from opgen.autograd_run import Command, Plan, run_pieces
from opgen.bindings import DEPRECATED, load_python
from opgen.dest.stub_table import STUB_EMITTERS
from opgen.diagnostics import Diagnostics, UserError
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import write_files
from opgen.program.python import PythonProgram
from opgen.run.shares import Piece
from opgen.run.shell import autograd_parser

__all__ = ["gen_pyi", "generate", "main"]

COMMAND: Final = "gen_pyi"


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
    parser = autograd_parser(COMMAND, "Generate type stubs of the functions of Python.")
    return run_pieces(Command(COMMAND, parser, _plan), argv)


def _plan(given: argparse.Namespace, log: Diagnostics) -> Plan | None:
    deprecated = given.autograd / DEPRECATED
    program = load_python(given.native_functions, given.tags, deprecated, log, torch=given.torch_version)
    if program is None:
        return None
    read, operators = (given.native_functions, given.tags, deprecated), len(program.program.functions)
    return Plan((Piece("stubs", 1, partial(generate, program)),), TemplateSet(), read, operators)
