"""`opgen list`: print one line per operator: its name, kernels, gradient and location; write nothing.

    python -m opgen list --source-path ops

The flags are those of `opgen gen` that determine which operators there are.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from opgen.commands._flag_effects import Target, warn_of_flags
from opgen.commands._gen_flags import add_operator_flags, read_request
from opgen.commands._mlx import list_mlx
from opgen.commands._subject import load_formulas
from opgen.commands.gen import load_generation, mlx_folder
from opgen.desk.explain import OperatorRow, list_operators, render_rows
from opgen.desk.facts import facts_of
from opgen.diagnostics import Diagnostics
from opgen.run.command import Command, Group, Result


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """List; return None, with errors logged, if the definitions are wrong."""
    request = read_request(options, log)
    source = mlx_folder(request, log)
    if source is not None:
        warn_of_flags(request.flags, Target.MLX, log)
        rows = list_mlx(source, log)
        return None if rows is None else _render(rows, options)
    generation = load_generation(request, log)
    if generation is None or log.has_errors:
        return None
    program = generation.program
    return _render(list_operators(program, facts_of(program, load_formulas(request, log))), options)


def _render(rows: Sequence[OperatorRow], options: argparse.Namespace) -> Result:
    if options.format == "json":
        return Result(json.dumps([asdict(row) for row in rows], indent=2) + "\n")
    return Result(render_rows(rows))


COMMAND: Final = Command(
    name="list",
    group=Group.OPERATORS,
    summary="print one line for each operator",
    produces="Prints each operator's name, the dispatch keys that it has kernels for, whether it has a gradient, "
    "and its location.  Writes nothing.",
    add_flags=add_operator_flags,
    load=load,
)
