"""Writes the class and registrations of a backend that lives outside of torch.

    python -m opgen.gen_backend_stubs --from-torch --source-yaml backend.yaml --output-dir out

`opgen.commands.gen_backend_stubs` does the work; names that programs import from here come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run as run_spine

if TYPE_CHECKING:
    from opgen.commands.gen_backend_stubs import generate as generate
    from opgen.commands.gen_backend_stubs import run as run
else:
    __getattr__ = names_of("opgen.commands.gen_backend_stubs", "generate", "run")

__all__ = ["generate", "main", "run"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run_spine("gen_backend_stubs", argv)


if __name__ == "__main__":
    run_as_program(main)
