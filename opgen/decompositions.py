"""Writes the functions with which TorchScript may replace operators.

    python -m opgen.decompositions --install-dir out

`opgen.commands.decompositions` does the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.run.entry import run_as_program
from opgen.run.spine import run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("decompositions", argv)


if __name__ == "__main__":
    run_as_program(main)
