"""The generator of `annotated_fn_args.py`: operators in, the arguments that calls from Python must give out.

`opgen.gen_annotated_fn_args` is the command.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Final

from opgen.autograd_run import Command, Plan, run_pieces
from opgen.dest.annotated_fn_args import emit_annotated_fn_args
from opgen.diagnostics import Diagnostics, UserError
from opgen.frontend.native_functions import load_program
from opgen.frontend.python_functions import check_bindings
from opgen.output.template import TemplateSet
from opgen.output.writer import write_files
from opgen.program.program import Program
from opgen.run.inputs import autograd_templates
from opgen.run.shares import Piece
from opgen.run.shell import autograd_parser

__all__ = ["gen_annotated", "main"]

COMMAND: Final = "gen_annotated_fn_args"


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
    files = emit_annotated_fn_args(program, TemplateSet(autograd_templates(Path(autograd_dir))))
    write_files(tuple(files), {"install": Path(out)})


def _load(functions: Path, tags: Path, log: Diagnostics, torch: str | None = None) -> Program | None:
    program = load_program(functions, tags, log, torch=torch)
    if program is not None:
        check_bindings(program, log)
    return None if log.has_errors else program


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    description = "Generate the arguments from which torch's tests call the functions of Python."
    return run_pieces(Command(COMMAND, autograd_parser(COMMAND, description), _plan), argv)


def _plan(given: argparse.Namespace, log: Diagnostics) -> Plan | None:
    program = _load(given.native_functions, given.tags, log, given.torch_version)
    if program is None:
        return None
    templates = TemplateSet(autograd_templates(given.autograd))
    piece = Piece("arguments", 1, partial(emit_annotated_fn_args, program, templates))
    return Plan((piece,), templates, (given.native_functions, given.tags), len(program.functions))
