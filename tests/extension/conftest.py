"""The extensions that the tests of this folder run."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.extension.building import EXAMPLES, Built, alone, build_once, require_tools


@pytest.fixture(scope="session")
def builds(session_folder: Path) -> Path:
    """Where projects are built: one folder for all test processes; OPGEN_TEST_BUILDS keeps it for the next session."""
    kept = os.environ.get("OPGEN_TEST_BUILDS")
    folder = Path(kept) if kept else session_folder / "extensions"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def rational(builds: Path) -> Built:
    """`examples/rational`, built and loaded; OPGEN_TEST_RATIONAL names a folder where it is built already."""
    return _loaded("rational", builds)


@pytest.fixture(scope="session")
def rational_package(rational: Built) -> Any:
    """The Python package of `examples/rational`, imported beside the library that has been loaded already."""
    sys.path.insert(0, os.fspath(rational.python))
    try:
        with alone(rational):
            return importlib.import_module("rational")
    finally:
        sys.path.remove(os.fspath(rational.python))


@pytest.fixture(scope="session")
def toy(builds: Path) -> Built:
    """`examples/device`, built and loaded."""
    return _loaded("toy", builds, EXAMPLES / "device")


def _loaded(name: str, builds: Path, source: Path | None = None) -> Built:
    made = os.environ.get(f"OPGEN_TEST_{name.upper()}")
    if made:
        return _load(name, Built(source or EXAMPLES / name, Path(made)))
    require_tools("ninja")
    built = build_once(name, source or EXAMPLES / name, builds)
    return _load(name, built)


def _load(name: str, built: Built) -> Built:
    import torch

    torch.ops.load_library(os.fspath(built.library(name)))
    return built
