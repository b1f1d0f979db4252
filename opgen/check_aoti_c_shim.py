"""Says whether kept headers of AOTInductor's shims are up to date.

    python -m opgen.check_aoti_c_shim generated --from-torch

`opgen.commands.check_aoti_c_shim` does the work.
"""

from __future__ import annotations

from collections.abc import Sequence

from opgen.run.entry import run_as_program
from opgen.run.spine import run

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("check_aoti_c_shim", argv)


if __name__ == "__main__":
    run_as_program(main)
