"""The types of opgen, its tests and its benchmarks hold: `mypy --strict`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


def test_mypy_is_content(repository: Path) -> None:
    command = [sys.executable, "-m", "mypy"]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        pytest.fail(f"{done.stdout}{done.stderr}", pytrace=False)
