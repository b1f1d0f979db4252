"""What opgen takes is C++: a few libraries of random definitions through the front ends of the compilers there are."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from tests.compile.random_libraries import compile_library, definitions, write_library

CLANG = next(filter(shutil.which, ("clang++", *(f"clang++-{version}" for version in range(14, 24)))), None)
COMPILERS = tuple(filter(None, (os.environ.get("CXX", "g++"), CLANG)))
OPERATORS = 12


@pytest.mark.parametrize(("seed", "compiler"), list(enumerate(COMPILERS)))
def test_what_is_taken_compiles(tmp_path: Path, seed: int, compiler: str) -> None:
    assert write_library(tmp_path, seed, OPERATORS) >= OPERATORS // 3
    assert compile_library(tmp_path, compiler) == ""


def test_a_library_has_its_number() -> None:
    assert definitions(7, 5) == definitions(7, 5)
    assert definitions(7, 5) != definitions(8, 5)


@pytest.mark.parametrize("seed", range(100, 104))
def test_no_definitions_are_an_internal_error(tmp_path: Path, seed: int) -> None:
    """Of many entries some are taken, and the others are refused with a place."""
    assert write_library(tmp_path, seed, 40) > 0
