"""Pieces of work are done once each, by whichever process, and no more processes work at once than may."""

from __future__ import annotations

import os
import signal
import time
from functools import partial
from pathlib import Path

import pytest

from opgen.run.parallel import Crew, longest_first, run_all

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that can be forked")


def _square(number: int) -> int:
    return number * number


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_come_in_order(jobs: int) -> None:
    assert run_all(4, _square, jobs, order=[2, 0, 3, 1]) == [0, 1, 4, 9]
    assert run_all(0, _square, jobs) == []


def test_longest_pieces_are_begun_first() -> None:
    assert longest_first([1, 5, 3]) == [1, 2, 0]


def _square_here_only(parent: int, number: int) -> int:
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def test_what_a_killed_helper_had_taken_is_done_again() -> None:
    assert run_all(4, partial(_square_here_only, os.getpid()), 3) == [0, 1, 4, 9]


def test_an_error_comes_to_light_in_the_process_that_asked() -> None:
    with pytest.raises(ZeroDivisionError):
        run_all(3, lambda number: 1 // number, 2)


def _note(folder: Path, name: str, number: int) -> int:
    """Notes when it began and ended, and in which process."""
    began = time.monotonic()
    time.sleep(0.02)
    (folder / f"{name}{number}").write_text(f"{os.getpid()} {began} {time.monotonic()}", encoding="utf-8")
    return number


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_helpers_of_a_second_crew_wait_for_those_of_the_first(tmp_path: Path, jobs: int) -> None:
    with (
        Crew([0, 1, 2], partial(_note, tmp_path, "first"), jobs) as first,
        Crew([0, 1, 2, 3], partial(_note, tmp_path, "second"), jobs, after=first) as second,
    ):
        assert (second.results(), first.results()) == ([0, 1, 2, 3], [0, 1, 2])
    notes = [path.read_text(encoding="utf-8").split() for path in tmp_path.iterdir()]
    spans = [(float(began), float(ended)) for _, began, ended in notes]
    assert len(notes) == 7
    assert all(sum(began <= at < ended for began, ended in spans) <= jobs for at, _ in spans)


def test_helpers_that_are_killed_let_others_begin() -> None:
    work = partial(_square_here_only, os.getpid())
    with Crew([0, 1], work, 2) as first, Crew([2, 3], _square, 2, after=first) as second:
        assert (second.results(), first.results()) == ([4, 9], [0, 1])
