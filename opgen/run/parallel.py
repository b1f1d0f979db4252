"""Tasks → their results in order, computed by several processes.

    run_all(3, work, jobs=2)    →   [work(0), work(1), work(2)]

Workers are forked, so they inherit all values computed so far, and only results are sent back.  Each worker takes
the next task from a queue.  If a worker fails, the parent process repeats its tasks, so that the error is raised where
it can be handled.
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

MAX_TASKS: Final = 256
"""A worker takes a task by atomically reading one byte from a pipe."""


def available_jobs() -> int:
    """Return the number of processes that can run in parallel."""
    if not hasattr(os, "fork"):
        return 1
    with suppress(AttributeError, OSError):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def longest_first(costs: Sequence[float]) -> list[int]:
    """Return the indices of tasks with these costs, the longest task first."""
    return sorted(range(len(costs)), key=lambda task: -costs[task])


def run_all(count: int, work: Callable[[int], T], jobs: int, order: Iterable[int] | None = None) -> list[T]:
    """Return the results of `work(0)` to `work(count - 1)`; tasks start in the given order.

    Runs serially with one job, or if processes can't be forked.
    """
    tasks = tuple(range(count) if order is None else order)
    if jobs <= 1 or not hasattr(os, "fork") or count > MAX_TASKS:
        done = {task: work(task) for task in tasks}
        return [done[task] for task in range(count)]
    with ExitStack() as stack:
        queue = _queue_of(tasks)
        stack.callback(os.close, queue)
        sys.stdout.flush()
        sys.stderr.flush()
        workers = [stack.enter_context(_Worker(queue, work)) for _ in range(min(jobs, count) - 1)]
        done = {task: work(task) for task in _taken(queue)}
        for worker in workers:
            done.update(worker.results())
        return [done[task] if task in done else work(task) for task in range(count)]


def _queue_of(tasks: Iterable[int]) -> int:
    """Return a pipe that holds the tasks, one byte each."""
    queue, feed = os.pipe()
    os.write(feed, bytes(tasks))
    os.close(feed)
    return queue


def _taken(queue: int) -> Iterator[int]:
    """Take tasks until none is left."""
    while taken := os.read(queue, 1):
        yield taken[0]


class _Worker:
    """A forked process that executes tasks; it is killed on exit if it is still running."""

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
        """Return the worker's results; empty if it failed."""
        with open(self._receive, "rb", closefd=False) as file:
            sent = file.read()
        try:
            done: dict[int, T] = pickle.loads(sent)
        except (EOFError, pickle.UnpicklingError):
            return {}
        return done


def _work_as_child(queue: int, send: int, work: Callable[[int], object]) -> NoReturn:
    """Execute tasks and send their results; always exit without running the parent's cleanup."""
    try:
        done: dict[int, object] = {}
        with suppress(Exception):  # the parent repeats this task and raises the error
            for task in _taken(queue):
                done[task] = work(task)
        with open(send, "wb") as file:
            pickle.dump(done, file, pickle.HIGHEST_PROTOCOL)
        os._exit(0)
    finally:
        os._exit(1)
