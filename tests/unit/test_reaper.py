"""A test session that is stopped takes with it what it started."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from tests.reaper import marked

SESSION = """
import os, subprocess, sys, time
from tests import reaper

reaper.start()
subprocess.Popen(["setsid", "sleep", "1000"])
subprocess.Popen(["sh", "-c", "sleep 1000 & wait"], start_new_session=True)
print(os.environ[reaper.MARK], flush=True)
time.sleep(1000)
"""


def test_what_a_killed_session_started_ends(repository: Path) -> None:
    session = subprocess.Popen([sys.executable, "-c", SESSION], cwd=repository, stdout=subprocess.PIPE, text=True)
    assert session.stdout is not None
    with session.stdout:
        mark = session.stdout.readline().strip()
    deadline = time.monotonic() + 20
    while len(list(marked(mark))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(list(marked(mark))) >= 3
    session.kill()
    session.wait()
    while (left := list(marked(mark))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
