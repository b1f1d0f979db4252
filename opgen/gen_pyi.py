"""Writes type stubs of torch's functions.

    python -m opgen.gen_pyi native_functions.yaml tags.yaml out packaged/autograd

`opgen.commands.gen_pyi` does the work; names that programs import from here come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands.gen_pyi import gen_pyi as gen_pyi
    from opgen.commands.gen_pyi import generate as generate
else:
    __getattr__ = names_of("opgen.commands.gen_pyi", "gen_pyi", "generate")

__all__ = ["gen_pyi", "generate", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_pyi", argv)


if __name__ == "__main__":
    run_as_program(main)
