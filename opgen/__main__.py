"""The `opgen` command: the first word names a command, the rest are its flags.

    opgen gen --install-dir out        python -m opgen gen …

A command is a module in `opgen.commands`; only `opgen --help` imports all of them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from opgen import __version__
from opgen.commands._all import command_names, load_commands
from opgen.output.console import say
from opgen.run.entry import run_as_program
from opgen.run.spine import run

CMAKE_DIR_FLAG: Final = "--cmake-dir"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the command line names; return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    word = words[0] if words else ""
    names = command_names()
    if word in names:
        return run(word, words[1:])
    if word == CMAKE_DIR_FLAG:
        return say("", f"{Path(__file__).resolve().parent / 'cmake'}\n", 0)
    if word == "--version":
        releases = importlib.import_module("opgen.releases.known").describe_releases()
        return say("", f"opgen {__version__}, for {releases}\n", 0)
    if word in ("-h", "--help"):
        return say("", "".join(_help(names)), 0)
    arguments = importlib.import_module("opgen.run.arguments")
    return say(arguments.render_unknown_command(word, names), "", arguments.WRONG_USAGE)


def _help(names: Sequence[str]) -> Iterator[str]:
    """Yield the text of `opgen --help`: the commands by group."""
    yield "usage: opgen COMMAND [FLAGS]\n\nGenerate the code of PyTorch operators.\n"
    found = list(load_commands(names))
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
