"""Writes kernels for TorchScript's interpreter, for selected operators.

    python -m opgen.gen_unboxing --from-torch --op-registration-allowlist aten::add aten::relu --install-dir out

`opgen.commands.gen_unboxing` does the work; names that programs import from here come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands.gen_unboxing import generate as generate
else:
    __getattr__ = names_of("opgen.commands.gen_unboxing", "generate")

__all__ = ["generate", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_unboxing", argv)


if __name__ == "__main__":
    run_as_program(main)
