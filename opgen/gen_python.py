"""Writes the C++ by which Python calls operators.

    python -m opgen.gen_python native_functions.yaml tags.yaml out packaged/autograd

`opgen.commands.gen_python` does the work; programs import the other names from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands._python_library import gen as gen
    from opgen.commands._python_library import gen_autograd_python as gen_autograd_python
    from opgen.commands._python_library import generate as generate
    from opgen.commands._python_library import load_python as load_python
else:
    __getattr__ = names_of("opgen.commands._python_library", "gen", "gen_autograd_python", "generate", "load_python")

__all__ = ["gen", "gen_autograd_python", "generate", "load_python", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_python", argv)


if __name__ == "__main__":
    run_as_program(main)
