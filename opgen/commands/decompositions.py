"""`opgen decompositions`: the installed torch's table of decompositions → C++ that holds it.

    python -m opgen.decompositions --install-dir out

writes `decomposition_registry_util.cpp`.  This command imports torch.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final

from opgen.dest.jit_decompositions import Decomposition, emit_decompositions
from opgen.diagnostics import Diagnostics
from opgen.installed.location import import_torch, torch_files
from opgen.output.emitter import Emitter, bind
from opgen.output.template import TemplateSet
from opgen.run.command import Command, Group
from opgen.run.flags import add_common_flags, add_install_dir
from opgen.run.inputs import packaged_templates
from opgen.run.work import Work, install_root

NAME: Final = "decompositions"
TABLE: Final = "torch.jit._decompositions"
"""The module of torch that defines the table."""

EMITTERS: Final[tuple[Emitter[Sequence[Decomposition], TemplateSet], ...]] = (
    Emitter("decompositions", emit_decompositions),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    add_install_dir(parser)
    add_common_flags(parser, of_torch=False)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the table of the installed torch; return None, with an error logged, if there is none."""
    table = import_torch(TABLE, NAME, log)
    if table is None:
        return None
    decompositions = [
        Decomposition(str(schema), str(function.name), str(function.code))
        for schema, function in table.decomposition_table.items()
    ]
    templates = TemplateSet(*packaged_templates(NAME))
    emitters = bind(EMITTERS, decompositions, templates)
    return Work(emitters, install_root(options.install_dir), templates, read=torch_files())


COMMAND: Final = Command(
    name=NAME,
    group=Group.RUNTIMES,
    summary="write the functions with which TorchScript may replace operators",
    produces="Imports torch and writes decomposition_registry_util.cpp into the install directory.",
    add_flags=add_flags,
    load=load,
)
