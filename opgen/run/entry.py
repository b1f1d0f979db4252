"""How a command runs as a program: its streams, its exit code, and the names that its module offers to programs.

run_as_program(main)                                          →  the process ends with what main() returns
__getattr__ = names_of("opgen.commands.gen_pyi", "gen_pyi")   →  `from opgen.gen_pyi import gen_pyi`
"""

from __future__ import annotations

import gc
import importlib
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn


def run_as_program(main: Callable[[], int]) -> NoReturn:
    """Run a command as a program."""
    # A run makes few cycles and ends soon, so the garbage collector would only take time.
    gc.disable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path may hold what the terminal can't show
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the report has gone.  The files are written; Python must not complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    with suppress(OSError):
        sys.stderr.flush()
    # Python's teardown is slow, and the system's is not.
    os._exit(code)


def names_of(module: str, *names: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that takes `names` from another module, imported on first use.

    A run with nothing to do must not import the generator, but programs import these names from the entry module.
    """

    def get(name: str) -> Any:
        if name in names:
            return getattr(importlib.import_module(module), name)
        raise AttributeError(f"no attribute '{name}'")

    return get
