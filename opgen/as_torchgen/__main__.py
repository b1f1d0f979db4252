"""Runs a program with opgen instead of torchgen.

    python -m opgen.as_torchgen path/to/generator.py --its flags
    python -m opgen.as_torchgen -m codegen.gen_backend --its flags

Processes that the program starts are not affected; each must be run this way too.
"""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Final

from opgen.as_torchgen.finder import install

USAGE: Final = "usage: python -m opgen.as_torchgen [-m] PROGRAM [ARGUMENT ...]\n"


def main() -> int:
    """Run the program on the command line; return 2 if there is none."""
    arguments = sys.argv[1:]
    as_module = arguments[:1] == ["-m"]
    program = arguments[1:] if as_module else arguments
    if not program or program[0] in ("-h", "--help"):
        (sys.stdout if program else sys.stderr).write(USAGE)
        return 0 if program else 2
    install()
    sys.argv = program
    if as_module:
        runpy.run_module(program[0], run_name="__main__", alter_sys=True)
        return 0
    if not Path(program[0]).exists():
        sys.stderr.write(f"error: there is no program '{program[0]}'\n{USAGE}")
        return 2
    # A program can import modules from its own folder, as when Python runs it.
    sys.path[0] = str(Path(program[0]).resolve().parent)
    runpy.run_path(program[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
