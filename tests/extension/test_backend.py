"""A backend outside of torch, built from a backend YAML: runs `backend_checks`, and what is told if a kernel lacks."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.extension.building import EXAMPLES, ROOT, build_once, configure, require_tools, run

CHECKS = Path(__file__).with_name("backend_checks.py")


def test_backend(builds: Path) -> None:
    require_tools("ninja")
    built = build_once("lab", EXAMPLES / "backend", builds, is_quick=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", os.fspath(CHECKS)]
    assert "12 passed" in run(command, ROOT, OPGEN_TEST_LIBRARY=os.fspath(built.library("lab")))


def test_a_kernel_that_is_missing_is_told_when_the_build_is_configured(tmp_path: Path) -> None:
    require_tools("ninja")
    source = tmp_path / "lab"
    shutil.copytree(EXAMPLES / "backend", source)
    backend = source / "backend.yaml"
    backend.write_text(backend.read_text(encoding="utf-8").replace("- topk\n", "- topk\n- exp\n"), encoding="utf-8")
    with pytest.raises(pytest.fail.Exception, match="'Kernels::exp' is not defined in"):
        configure(source, tmp_path / "build", "Ninja")
