"""The autograd generator as a command: operators and their derivatives in, the C++ of torch's autograd out.

    python -m opgen.gen_autograd native_functions.yaml tags.yaml out packaged/autograd

A run with nothing to do is over at once (`opgen.quick`); `opgen.autograd` does the work.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from opgen.quick import run_unless_current
from opgen.run.entry import run_as_program

if TYPE_CHECKING:
    from opgen.autograd import gen_autograd as gen_autograd
    from opgen.autograd import generate as generate
    from opgen.autograd import load_autograd as load_autograd

__all__ = ["entry_point", "gen_autograd", "generate", "load_autograd", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_unless_current("gen_autograd", "opgen.autograd", argv)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


def __getattr__(name: str) -> Any:
    """What programs import from here is in `opgen.autograd`."""
    if name in __all__:
        return getattr(importlib.import_module("opgen.autograd"), name)
    raise AttributeError(f"module 'opgen.gen_autograd' has no attribute '{name}'")


if __name__ == "__main__":
    entry_point()
