"""Runs a command as a program, and exports names lazily from its module.

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
from typing import Any, Final, NoReturn

from opgen.output.console import UNPRINTABLE

_STDERR: Final = 2


def run_as_program(main: Callable[[], int]) -> NoReturn:
    """Run a command as a program."""
    # A run is short and creates few reference cycles, so garbage collection is wasted time.
    gc.disable()
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path may contain characters that the terminal can't show
    try:
        code = _result(main)
    except BrokenPipeError:
        code = 0
    except OSError:  # `--help` can't be written
        code = UNPRINTABLE
    # Skip interpreter teardown, which is slow.
    os._exit(code)


def _result(main: Callable[[], int]) -> int:
    try:
        return main()
    except SystemExit as end:  # from argparse, which has printed its help or an error
        if not end.code:
            sys.stdout.flush()
        return end.code if isinstance(end.code, int) else 0


def _open_closed_streams() -> None:
    """Redirect closed standard streams to /dev/null; otherwise the next opened file would get its descriptor."""
    handle = os.open(os.devnull, os.O_RDWR)
    while handle <= _STDERR:
        handle = os.dup(handle)
    os.close(handle)
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(_STDERR, "w", encoding="utf-8")


def names_of(module: str, *names: str) -> Callable[[str], Any]:
    """Return a module's `__getattr__` that takes `names` from another module, imported on first use.

    A run with nothing to do must not import the generator, but programs import these names from the entry module.
    """

    def get(name: str) -> Any:
        if name in names:
            return getattr(importlib.import_module(module), name)
        raise AttributeError(f"no attribute '{name}'")

    return get
