"""The generator of TorchScript's decompositions: the installed torch's table in, C++ that holds it out.

    python -m opgen.decompositions --install-dir out

writes `decomposition_registry_util.cpp`.  This command imports torch.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final, NoReturn

from opgen.dest.jit_decompositions import Decomposition, emit_decompositions
from opgen.diagnostics import Diagnostics
from opgen.installed.location import import_torch
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.run.entry import run_as_program
from opgen.run.flags import install_parser
from opgen.run.inputs import packaged_templates
from opgen.run.shell import run_command

__all__ = ["entry_point", "main"]

COMMAND: Final = "decompositions"
TABLE: Final = "torch.jit._decompositions"
"""The module of torch that has the table."""


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    description = "Generate C++ that holds the functions which TorchScript may put in the place of operators."
    return run_command(install_parser(COMMAND, description), _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    table = import_torch(TABLE, COMMAND, log)
    if table is None:
        return None
    decompositions = [
        Decomposition(str(schema), str(function.name), str(function.code))
        for schema, function in table.decomposition_table.items()
    ]
    files = tuple(emit_decompositions(decompositions, TemplateSet(*packaged_templates(COMMAND))))
    return write_files(files, {"install": given.install_dir}, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
