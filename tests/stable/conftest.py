"""The library that the tests of this folder run."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.sharing import Share
from tests.stable.building import build


@pytest.fixture(scope="session")
def built(session_folder: Path) -> Path:
    """The folder that the built package is in; OPGEN_TEST_PORTABLE names one where it is built already."""
    kept = os.environ.get("OPGEN_TEST_PORTABLE")
    return Path(kept) if kept else Share(session_folder).folder("portable", build) / "python"


@pytest.fixture(scope="session")
def portable(built: Path) -> ModuleType:
    """The package, imported."""
    sys.path.insert(0, os.fspath(built))
    return importlib.import_module("portable")
