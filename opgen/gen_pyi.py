"""The generator of type stubs as a command: operators in, what type checkers are told of them out.

    python -m opgen.gen_pyi native_functions.yaml tags.yaml out packaged/autograd

A run with nothing to do is over at once (`opgen.quick`); `opgen.type_stubs` does the work.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from opgen.quick import run_unless_current
from opgen.run.entry import run_as_program

if TYPE_CHECKING:
    from opgen.type_stubs import gen_pyi as gen_pyi
    from opgen.type_stubs import generate as generate

__all__ = ["entry_point", "gen_pyi", "generate", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_unless_current("gen_pyi", "opgen.type_stubs", argv)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


def __getattr__(name: str) -> Any:
    """What programs import from here is in `opgen.type_stubs`."""
    if name in __all__:
        return getattr(importlib.import_module("opgen.type_stubs"), name)
    raise AttributeError(f"module 'opgen.gen_pyi' has no attribute '{name}'")


if __name__ == "__main__":
    entry_point()
