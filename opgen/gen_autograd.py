"""Writes the C++ of torch's autograd from operators and their derivatives.

    python -m opgen.gen_autograd native_functions.yaml tags.yaml out packaged/autograd

`opgen.commands.gen_autograd` does the work; names that programs import from here come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands._autograd_library import gen_autograd as gen_autograd
    from opgen.commands._autograd_library import generate as generate
    from opgen.commands._autograd_library import load_autograd as load_autograd
else:
    __getattr__ = names_of("opgen.commands._autograd_library", "gen_autograd", "generate", "load_autograd")

__all__ = ["gen_autograd", "generate", "load_autograd", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_autograd", argv)


if __name__ == "__main__":
    run_as_program(main)
