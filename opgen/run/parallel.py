"""Does pieces of work in several processes at once, and gives the results in order, whoever did what.

The processes are forks: they have all that was made before without it being sent.  Each takes the
next piece that nobody has taken; only results are sent back.

    run_all(3, work, jobs=2)    →   [work(0), work(1), work(2)]

Work that must wait for something else is begun by a second crew, whose helpers wait until those of the first end:

    with Crew([0, 1], work, 2) as first:
        value = derive()
        with Crew([0, 1, 2], partial(other_work, value), 2, after=first) as second:
            return first.results(), second.results()

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
from functools import partial
from typing import Any, Final, Generic, NoReturn, TypeVar

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
    with Crew(range(count) if order is None else order, work, jobs) as crew:
        return crew.results()


class Crew(Generic[T]):
    """Processes that take piece after piece: this one, once it is asked for results, and its helpers at once."""

    def __init__(
        self, pieces: Iterable[int], work: Callable[[int], T], jobs: int, *, after: Crew[Any] | None = None
    ) -> None:
        """With `after`, each helper begins when one of that crew ends, so that no more than `jobs` are at work."""
        self._pieces, self._work = tuple(pieces), work
        can_fork = hasattr(os, "fork") and len(self._pieces) <= MOST_PIECES
        self._helpers = jobs - 1 if can_fork else 0
        self._after = after
        self._children: list[_Child] = []
        self._pipes: list[int] = []

    def __enter__(self) -> Crew[T]:
        if self._helpers < 1:
            return self
        self._queue, feed = os.pipe()
        self._ended, end = os.pipe()
        self._pipes += [self._queue, self._ended]
        os.write(feed, bytes(self._pieces))
        os.close(feed)
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            for at in range(self._helpers):
                gate = self._after._ended if self._after is not None and at < len(self._after._children) else None
                self._children.append(_fork(partial(self._take_turns, gate), end))
        except BaseException:
            self.__exit__()
            raise
        finally:
            os.close(end)  # so that who waits is told even of helpers that are killed
        return self

    def __exit__(self, *_: object) -> None:
        for pipe in self._pipes:
            os.close(pipe)
        for child in self._children:
            child.end()

    def _take_turns(self, gate: int | None) -> dict[int, T]:
        """What a helper does: pieces, once the gate lets it through."""
        if gate is not None:
            os.read(gate, 1)
        done: dict[int, T] = {}
        with suppress(Exception):  # the parent does this piece again, and so meets the error
            for piece in _taken(self._queue):
                done[piece] = self._work(piece)
        return done

    def results(self) -> list[T]:
        """Does what is left to do; the results of all pieces in the order of their numbers."""
        done = {piece: self._work(piece) for piece in (_taken(self._queue) if self._children else self._pieces)}
        for child in self._children:
            done.update(child.results())
        return [done[piece] if piece in done else self._work(piece) for piece in sorted(self._pieces)]


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


def _fork(work: Callable[[], object], end: int) -> _Child:
    receive, send = os.pipe()
    pid = os.fork()
    if pid:
        os.close(send)
        return _Child(pid, receive)
    os.close(receive)
    _work_as_child(send, work, end)


def _work_as_child(send: int, work: Callable[[], object], end: int) -> NoReturn:
    """Works, says so through `end`, and sends the results; leaves without the parent's clean-up, whatever happens."""
    try:
        done = work()
        os.write(end, b".")
        with open(send, "wb") as file:
            pickle.dump(done, file, pickle.HIGHEST_PROTOCOL)
        os._exit(0)
    finally:
        os._exit(1)


def longest_first(costs: Sequence[float]) -> list[int]:
    """The order in which pieces of these costs are best begun."""
    return sorted(range(len(costs)), key=lambda piece: -costs[piece])
