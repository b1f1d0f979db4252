"""Pieces of work are done once each, by whichever process, and no more processes work at once than may."""

from __future__ import annotations

import os
import signal
from functools import partial

import pytest

from opgen.run.parallel import longest_first, run_all

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
