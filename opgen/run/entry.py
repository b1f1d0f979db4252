"""How a command runs as a program of its own: its streams, and its exit code.

run_as_program(main)     →  the process ends with what main() returns
"""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn


def run_as_program(main: Callable[[], int]) -> NoReturn:
    """Runs a command as a program of its own."""
    # A run makes no cycles worth collecting and ends soon: the collector would only take time.
    gc.disable()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a path may hold what the terminal can't show
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the report has gone.  The files are written; Python must not complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    with suppress(OSError):
        sys.stderr.flush()
    # To take apart what a run has made takes Python a while, and the system no time.
    os._exit(code)
