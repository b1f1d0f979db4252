"""Ends the processes that a test session started, once the session itself has ended, however it ended.

`start()` marks the environment of the session, which every compiler, generator and test process inherits, and starts
this module as a process of its own.  It waits until its parent is gone, and then ends all processes with the mark.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

MARK: Final = "OPGEN_TEST_SESSION"
_ROUNDS: Final = 20
"""How often processes are looked for: one that is being started when the first round runs is found by a later one."""


def start() -> None:
    """Mark this process and all that it will start, and start the process that ends them."""
    mark = f"{os.getpid()}-{time.time_ns()}"
    os.environ[MARK] = mark
    unmarked = {name: value for name, value in os.environ.items() if name != MARK}
    command = [sys.executable, "-S", os.fspath(Path(__file__)), str(os.getpid()), mark]
    os.posix_spawn(sys.executable, command, unmarked, setsid=True)


def marked(mark: str) -> Iterator[int]:
    """Yield the processes that have the mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or belongs to another user
        if wanted in variables:
            yield int(folder.name)


def _wait_for_end(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)


def _end_all(mark: str) -> None:
    for _ in range(_ROUNDS):
        for process in marked(mark):
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                continue
        time.sleep(0.05)


def _close_streams() -> None:
    """Let go of the session's streams, whose readers wait until the last process that has them ends."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)


if __name__ == "__main__":
    _close_streams()
    _wait_for_end(int(sys.argv[1]))
    _end_all(sys.argv[2])
