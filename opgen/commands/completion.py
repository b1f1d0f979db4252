"""`opgen completion SHELL`: print a shell completion script for opgen.

    opgen completion bash > ~/.local/share/bash-completion/completions/opgen

Needs `pip install 'opgen[completion]'`, which installs shtab.
"""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType
from typing import Final

from opgen.commands._all import command_names, load_commands
from opgen.diagnostics import Diagnostics
from opgen.run.arguments import Parser
from opgen.run.command import Command, Group, Result

SHELLS: Final = ("bash", "zsh", "tcsh")


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help=f"one of {', '.join(SHELLS)}")


def load(options: argparse.Namespace, log: Diagnostics) -> Result | None:
    """Return the script; None, with an error logged, if shtab is missing."""
    try:
        shtab = importlib.import_module("shtab")
    except ModuleNotFoundError:
        log.error("shtab-missing", "completion needs shtab", label="pip install 'opgen[completion]'")
        return None
    return Result(shtab.complete(_parser_of_all(shtab), options.shell))


def _parser_of_all(shtab: ModuleType) -> argparse.ArgumentParser:
    """Return one parser for all commands, with completion of files and folders."""
    parser = Parser(prog="opgen", description="Generate the code of PyTorch operators.")
    parsers = parser.add_subparsers(metavar="COMMAND")
    for command in load_commands(command_names()):
        each = parsers.add_parser(command.name, help=command.summary)
        command.add_flags(each)
        for action in each._actions:
            kind = {"DIR": shtab.DIRECTORY, "OUT": shtab.DIRECTORY, "FILE": shtab.FILE}.get(str(action.metavar))
            if kind is not None:
                action.complete = kind  # type: ignore[attr-defined]
    return parser


COMMAND: Final = Command(
    name="completion",
    group=Group.SHELL,
    summary="print a script by which bash, zsh or tcsh completes commands and flags",
    produces="Prints the script, and writes nothing.  Needs pip install 'opgen[completion]'.",
    add_flags=add_flags,
    load=load,
)
