"""The `opgen` command: the first word names a command, the rest are its flags.

    opgen gen --install-dir out        python -m opgen gen …

A command is a module in `opgen.commands`; only `opgen --help` imports all of them.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from opgen import __version__, commands
from opgen.diagnostics import expected
from opgen.run.entry import run_as_program
from opgen.run.spine import run

CMAKE_DIR_FLAG: Final = "--cmake-dir"
WRONG_USAGE: Final = 2
"""The exit code if the command line is wrong."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the command line names; return its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    word = arguments[0] if arguments else ""
    names = command_names()
    if word in names:
        return run(word, arguments[1:])
    if word == CMAKE_DIR_FLAG:
        sys.stdout.write(f"{Path(__file__).resolve().parent / 'cmake'}\n")
    elif word == "--version":
        releases = importlib.import_module("opgen.releases.known").describe_releases()
        sys.stdout.write(f"opgen {__version__}, for {releases}\n")
    elif word in ("-h", "--help"):
        sys.stdout.write("".join(_help(names)))
    else:
        near = expected(word, names) if word else ""
        message = f"unknown command '{word}'" if word else "a command is missing"
        hint = f"  {near}\n" if near else ""
        sys.stderr.write(f"opgen: error: {message}\n{hint}'opgen --help' lists the commands\n")
        return WRONG_USAGE
    return 0


def command_names() -> list[str]:
    """Return the names of all commands, sorted."""
    return sorted(module.name for module in pkgutil.iter_modules(commands.__path__) if module.name[0] != "_")


def _help(names: Sequence[str]) -> Iterator[str]:
    """Yield the text of `opgen --help`: the commands by group."""
    yield "usage: opgen COMMAND [FLAGS]\n\nGenerate the code of PyTorch operators.\n"
    found = [importlib.import_module(f"opgen.commands.{name}").COMMAND for name in names]
    width = max(map(len, names)) + 2
    for group in type(found[0].group):
        yield f"\n{group.value}:\n"
        yield from (f"  {each.name:<{width}}{each.summary}\n" for each in found if each.group is group)
    yield f"""
options:
  {"COMMAND --help":<{width}}list the flags of a command
  {"--version":<{width}}print the version
  {CMAKE_DIR_FLAG:<{width}}print the folder of the CMake package, for -Dopgen_DIR=
"""


def entry_point() -> None:
    """Run as a program."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
