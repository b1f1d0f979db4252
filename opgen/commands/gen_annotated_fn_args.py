"""`opgen gen_annotated_fn_args`: operators → `annotated_fn_args.py`, from which torch's tests call its functions.

python -m opgen.gen_annotated_fn_args native_functions.yaml tags.yaml out packaged/autograd
"""

from __future__ import annotations

import argparse
import os
from typing import Final

from opgen.commands._autograd import add_autograd_flags, autograd_work, templates_of, write_for_program
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.frontend.python_functions import check_bindings
from opgen.output.emitter import Emitter, OnDemand, bind
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.work import Work

EMITTERS: Final[tuple[Emitter[Program, TemplateSet], ...]] = (
    Emitter("arguments", OnDemand("opgen.dest.annotated_fn_args", "emit_annotated_fn_args")),
)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators; return None, with errors logged, if it fails."""
    program = load_program(options.native_functions, options.tags, log, torch=options.torch_version)
    if program is not None:
        check_bindings(program, log)
    if program is None or log.has_errors:
        return None
    templates = templates_of(options)
    return autograd_work(options, bind(EMITTERS, program, templates), templates, len(program.functions))


def gen_annotated(
    native_yaml_path: str | os.PathLike[str],
    tags_yaml_path: str | os.PathLike[str],
    out: str | os.PathLike[str],
    autograd_dir: str | os.PathLike[str],
) -> None:
    """Write `annotated_fn_args.py`; raise `UserError` with all errors."""
    write_for_program(load, native_yaml_path, tags_yaml_path, out, autograd_dir)


COMMAND: Final = Command(
    name="gen_annotated_fn_args",
    group=Group.TORCH,
    summary="write the arguments that torch's functions take, for tests of overrides",
    produces="Writes annotated_fn_args.py into OUT.",
    add_flags=add_autograd_flags,
    load=load,
)
