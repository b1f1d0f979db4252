"""`opgen gen_mobile_upgraders`: the bytecode upgraders of the installed torch → `upgrader_mobile.cpp`.

    python -m opgen.gen_mobile_upgraders --install-dir out

This command imports torch.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Final

from opgen.dest.mobile_upgraders import Upgrader, VersionRange, emit_mobile_upgraders
from opgen.diagnostics import Diagnostics
from opgen.installed.location import import_torch, torch_files
from opgen.installed.upgraders import check_upgraders, read_operators, read_upgraders
from opgen.output.emitter import Emitter, bind
from opgen.output.template import TemplateSet
from opgen.run.command import Command, Group
from opgen.run.flags import add_common_flags, add_install_dir
from opgen.run.inputs import packaged_templates
from opgen.run.work import Work, install_root

NAME: Final = "gen_mobile_upgraders"

EMITTERS: Final[tuple[Emitter[tuple[Upgrader, ...], Mapping[str, tuple[VersionRange, ...]], TemplateSet], ...]] = (
    Emitter("upgraders", emit_mobile_upgraders),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    add_install_dir(parser)
    add_common_flags(parser, of_torch=False)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the upgraders of the installed torch; return None, with errors logged, if it fails."""
    torch = import_torch("torch", NAME, log)
    bytecode = None if torch is None else import_torch("torch.jit.generate_bytecode", NAME, log)
    if bytecode is None:
        return None
    upgraders = read_upgraders(bytecode.generate_upgraders_bytecode(), log)
    operators = read_operators(torch)
    check_upgraders(upgraders, operators, log)
    if log.has_errors:
        return None
    templates = TemplateSet(*packaged_templates("mobile_upgraders"))
    emitters = bind(EMITTERS, upgraders, operators, templates)
    return Work(emitters, install_root(options.install_dir), templates, read=torch_files())


COMMAND: Final = Command(
    name=NAME,
    group=Group.RUNTIMES,
    summary="write bytecode upgraders for changed operators, which the mobile interpreter runs",
    produces="Imports torch and writes upgrader_mobile.cpp into the install directory.",
    add_flags=add_flags,
    load=load,
)
