"""Writes `annotated_fn_args.py`, from which torch's tests call its functions.

    python -m opgen.gen_annotated_fn_args native_functions.yaml tags.yaml out packaged/autograd

`opgen.commands.gen_annotated_fn_args` does the work; names that programs import from here come from there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from opgen.run.entry import names_of, run_as_program
from opgen.run.spine import run

if TYPE_CHECKING:
    from opgen.commands.gen_annotated_fn_args import gen_annotated as gen_annotated
else:
    __getattr__ = names_of("opgen.commands.gen_annotated_fn_args", "gen_annotated")

__all__ = ["gen_annotated", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return run("gen_annotated_fn_args", argv)


if __name__ == "__main__":
    run_as_program(main)
