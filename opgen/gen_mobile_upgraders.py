"""Writes the code that the mobile interpreter runs instead of operators that have changed.

    python -m opgen.gen_mobile_upgraders --install-dir out

`opgen.commands.gen_mobile_upgraders` does the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.run.entry import run_as_program
from opgen.run.spine import run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_mobile_upgraders", argv)


if __name__ == "__main__":
    run_as_program(main)
