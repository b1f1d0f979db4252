"""The generator of `annotated_fn_args.py` as a command: operators in, the arguments that their tests give out.

    python -m opgen.gen_annotated_fn_args native_functions.yaml tags.yaml out packaged/autograd

A run with nothing to do is over at once (`opgen.quick`); `opgen.fn_args` does the work.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from opgen.quick import run_unless_current
from opgen.run.entry import run_as_program

if TYPE_CHECKING:
    from opgen.fn_args import gen_annotated as gen_annotated

__all__ = ["entry_point", "gen_annotated", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_unless_current("gen_annotated_fn_args", "opgen.fn_args", argv)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


def __getattr__(name: str) -> Any:
    """What programs import from here is in `opgen.fn_args`."""
    if name in __all__:
        return getattr(importlib.import_module("opgen.fn_args"), name)
    raise AttributeError(f"module 'opgen.gen_annotated_fn_args' has no attribute '{name}'")


if __name__ == "__main__":
    entry_point()
