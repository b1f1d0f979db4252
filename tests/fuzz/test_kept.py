"""Inputs that once brought opgen to a traceback or a hang, and a few hundred fresh ones."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.fuzz.fuzz import KEPT, kinds, problem_of, run_part

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the time limit needs signals")


KEPT_FILES = sorted(path for path in KEPT.iterdir() if not path.name.startswith("."))


@pytest.mark.parametrize("path", KEPT_FILES, ids=lambda path: path.name)
def test_kept(path: Path) -> None:
    """The first word of a file's name is its kind."""
    kind = kinds()[path.name.partition("-")[0]]
    assert problem_of(kind.feed, path.read_bytes().decode("utf-8", "surrogatepass")) is None


@pytest.mark.parametrize("name", sorted(kinds()))
def test_fresh(name: str) -> None:
    assert [problem for _, _, problem in run_part(name, 1_000_000, 40)] == []
