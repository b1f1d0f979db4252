"""A device that torch doesn't know, whose operators opgen registers: runs `device_checks`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.extension.building import EXAMPLES, ROOT, build_once, require_tools, run

CHECKS = Path(__file__).with_name("device_checks.py")


def test_device(builds: Path) -> None:
    require_tools("ninja")
    build_once("toy", EXAMPLES / "device", builds, is_quick=True)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", os.fspath(CHECKS)]
    assert "6 passed" in run(command, ROOT, OPGEN_TEST_BUILDS=os.fspath(builds))
