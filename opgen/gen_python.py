"""The generator of Python bindings as a command: operators in, the C++ by which Python calls them out.

    python -m opgen.gen_python native_functions.yaml tags.yaml out packaged/autograd

A run with nothing to do is over at once (`opgen.quick`); `opgen.bindings` does the work.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from opgen.quick import run_unless_current
from opgen.run.entry import run_as_program

if TYPE_CHECKING:
    from opgen.bindings import gen as gen
    from opgen.bindings import gen_autograd_python as gen_autograd_python
    from opgen.bindings import generate as generate
    from opgen.bindings import load_python as load_python

__all__ = ["entry_point", "gen", "gen_autograd_python", "generate", "load_python", "main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    return run_unless_current("gen_python", "opgen.bindings", argv)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


def __getattr__(name: str) -> Any:
    """What programs import from here is in `opgen.bindings`."""
    if name in __all__:
        return getattr(importlib.import_module("opgen.bindings"), name)
    raise AttributeError(f"module 'opgen.gen_python' has no attribute '{name}'")


if __name__ == "__main__":
    entry_point()
