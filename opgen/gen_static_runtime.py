"""Writes the operators of the static runtime, and their tests.

    python -m opgen.gen_static_runtime --from-torch --install-dir out

`opgen.commands.gen_static_runtime` does the work; names that programs import from here come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands.gen_static_runtime import generate as generate
else:
    __getattr__ = names_of("opgen.commands.gen_static_runtime", "generate")

__all__ = ["generate", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_static_runtime", argv)


if __name__ == "__main__":
    run_as_program(main)
