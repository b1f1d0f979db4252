"""Pieces of work → their results in order, computed by several processes.

    run_all(3, work, jobs=2)    →   [work(0), work(1), work(2)]

Workers are forked, so they inherit everything that was computed before, and only results are sent back.  Each worker
takes the next piece from a queue.  If a worker fails, the first process does its pieces again, so that the error
appears where it can be handled.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from typing import Final, NoReturn, TypeVar

T = TypeVar("T")

MOST_PIECES: Final = 256
"""A worker takes a piece by reading one byte, which no two processes can do at once."""


def available_jobs() -> int:
    """Return how many processes can run at once."""
    if not hasattr(os, "fork"):
        return 1
    with suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def longest_first(costs: Sequence[float]) -> list[int]:
    """Return the order in which pieces of these costs are best started."""
    return sorted(range(len(costs)), key=lambda piece: -costs[piece])


def run_all(count: int, work: Callable[[int], T], jobs: int, order: Iterable[int] | None = None) -> list[T]:
    """Return the results of `work(0)` to `work(count - 1)`; pieces start in the given order.

    With one job, or where processes can't be forked, it is a plain loop.
    """
    pieces = tuple(range(count) if order is None else order)
    if jobs <= 1 or not hasattr(os, "fork") or count > MOST_PIECES:
        done = {piece: work(piece) for piece in pieces}
        return [done[piece] for piece in range(count)]
    with ExitStack() as stack:
        queue = _queue_of(pieces)
        stack.callback(os.close, queue)
        sys.stdout.flush()
        sys.stderr.flush()
        workers = [stack.enter_context(_Worker(queue, work)) for _ in range(min(jobs, count) - 1)]
        done = {piece: work(piece) for piece in _taken(queue)}
        for worker in workers:
            done.update(worker.results())
        return [done[piece] if piece in done else work(piece) for piece in range(count)]


def _queue_of(pieces: Iterable[int]) -> int:
    """Return a pipe that holds the pieces, one byte each."""
    queue, feed = os.pipe()
    os.write(feed, bytes(pieces))
    os.close(feed)
    return queue


def _taken(queue: int) -> Iterator[int]:
    """Take pieces until none is left."""
    while taken := os.read(queue, 1):
        yield taken[0]


class _Worker:
    """A forked process that takes pieces; it is killed on exit if it still runs."""

    def __init__(self, queue: int, work: Callable[[int], object]) -> None:
        self._receive, send = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            os.close(self._receive)
            _work_as_child(queue, send, work)
        os.close(send)

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._receive)
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def results(self) -> dict[int, T]:
        """Return what the worker did; nothing if it failed."""
        with open(self._receive, "rb", closefd=False) as file:
            sent = file.read()
        try:
            done: dict[int, T] = pickle.loads(sent)
        except (EOFError, pickle.UnpicklingError):
            return {}
        return done


def _work_as_child(queue: int, send: int, work: Callable[[int], object]) -> NoReturn:
    """Do pieces and send their results; exit without the parent's clean-up, whatever happens."""
    try:
        done: dict[int, object] = {}
        with suppress(Exception):  # the parent does this piece again and meets the error
            for piece in _taken(queue):
                done[piece] = work(piece)
        with open(send, "wb") as file:
            pickle.dump(done, file, pickle.HIGHEST_PROTOCOL)
        os._exit(0)
    finally:
        os._exit(1)
