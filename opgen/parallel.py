"""Does pieces of work in several processes at once, and gives the results in order, whoever did what.

The processes are forks: they have all that was made before without it being sent.  Each takes the
next piece that nobody has taken; only results are sent back.

    run_all(3, work, jobs=2)    →   [work(0), work(1), work(2)]

A piece whose process fails for whatever reason is done again in the process that asked, so that its
error comes to light where it can be handled.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Final, NoReturn, TypeVar

T = TypeVar("T")

MOST_PIECES: Final = 256
"""A piece is taken by reading one byte, which no two processes can."""


def available_jobs() -> int:
    """How many processes can run at once."""
    if not hasattr(os, "fork"):
        return 1
    with suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_all(count: int, work: Callable[[int], T], jobs: int, order: Iterable[int] | None = None) -> list[T]:
    """The results of `work(0)` to `work(count - 1)`; pieces are begun in the given order.

    With one job, or where processes can't be forked, it is a plain loop.
    """
    pieces = list(range(count)) if order is None else list(order)
    workers = min(jobs, count) - 1
    if workers < 1 or count > MOST_PIECES or not hasattr(os, "fork"):
        return _in_order(count, _do(iter(pieces), work), work)
    queue, feed = os.pipe()
    os.write(feed, bytes(pieces))
    os.close(feed)
    children: list[_Child] = []
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        for _ in range(workers):
            children.append(_fork(queue, work))  # noqa: PERF401 - each must be known if the next fork fails
        done = _do(_taken(queue), work)
        for child in children:
            done.update(child.results())
    finally:
        os.close(queue)
        for child in children:
            child.end()
    return _in_order(count, done, work)


def _in_order(count: int, done: dict[int, T], work: Callable[[int], T]) -> list[T]:
    return [done[piece] if piece in done else work(piece) for piece in range(count)]


def _do(pieces: Iterable[int], work: Callable[[int], T]) -> dict[int, T]:
    return {piece: work(piece) for piece in pieces}


def _taken(queue: int) -> Iterable[int]:
    """Takes piece after piece, as long as there are any."""
    while taken := os.read(queue, 1):
        yield taken[0]


class _Child:
    """A forked process, as its parent knows it."""

    def __init__(self, pid: int, pipe: int) -> None:
        self._pid = pid
        self._pipe = pipe

    def results(self) -> dict[int, T]:
        """What the child did; nothing if it failed."""
        with open(self._pipe, "rb", closefd=False) as file:
            sent = file.read()
        try:
            done: dict[int, T] = pickle.loads(sent)
        except (EOFError, pickle.UnpicklingError):
            return {}
        return done

    def end(self) -> None:
        """Ends the child if it still runs."""
        os.close(self._pipe)
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


def _fork(queue: int, work: Callable[[int], object]) -> _Child:
    receive, send = os.pipe()
    pid = os.fork()
    if pid:
        os.close(send)
        return _Child(pid, receive)
    os.close(receive)
    _work_as_child(queue, send, work)


def _work_as_child(queue: int, send: int, work: Callable[[int], object]) -> NoReturn:
    """Does pieces and sends the results; leaves without any of the parent's clean-up, whatever happens."""
    try:
        done: dict[int, object] = {}
        with suppress(Exception):  # the parent does this piece again, and so meets the error
            for piece in _taken(queue):
                done[piece] = work(piece)
        with open(send, "wb") as file:
            pickle.dump(done, file, pickle.HIGHEST_PROTOCOL)
        os._exit(0)
    finally:
        os._exit(1)


def longest_first(costs: Sequence[float]) -> list[int]:
    """The order in which pieces of these costs are best begun."""
    return sorted(range(len(costs)), key=lambda piece: -costs[piece])
