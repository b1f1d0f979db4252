"""A program → a log of measurements: runs it with torch's collection on.

collect("mm", Path("mm.txt"), Path("script.py"), ["--steps", "3"], log)    →  the script's exit code, and mm.txt
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics

COLLECT_VARIABLE: Final = "TORCHINDUCTOR_AUTOHEURISTIC_COLLECT"
LOG_VARIABLE: Final = "TORCHINDUCTOR_AUTOHEURISTIC_LOG_PATH"
_PROGRAM: Final = "opgen.autoheuristic.collected_program"


def collect(name: str, path: Path, script: Path, arguments: Sequence[str], log: Diagnostics) -> int:
    """Run a script in a new process; return its exit code.

    Args:
        name: the decision to measure.
        path: the log; torch appends to it while the script runs, so measurements before a crash are kept.
        script: the program.
        arguments: its arguments.
        log: gets the reason if the script can't be run, or if nothing was measured.
    """
    if not script.is_file():
        log.error("missing-file", f"there is no file '{script}'")
    if "," in name or not name.strip():
        log.error("bad-decision-name", f"'{name}' is not the name of one decision", label="name one, without commas")
    if path.is_dir() or (path.exists() and not _is_log_of(name, path)):
        log.error("not-a-log", f"'{path}' exists, but is not a log of '{name}'", label="name another file")
    if log.has_errors:
        return 1
    new_folders = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    before = _size(path)
    environment = {**os.environ, COLLECT_VARIABLE: name, LOG_VARIABLE: str(path.resolve())}
    command = [sys.executable, "-m", _PROGRAM, str(script), *arguments]
    code = subprocess.run(command, env=environment, check=False).returncode
    if code == 0 and _size(path) == before:
        message = f"the program recorded no measurements for '{name}'"
        log.error("nothing-collected", message, label="check that it compiles code that needs this decision, on a GPU")
    if not path.exists():
        for folder in new_folders:
            folder.rmdir()
    return code if code >= 0 else 128 - code


def _is_log_of(name: str, path: Path) -> bool:
    """Return whether the file is a log of the decision by torch; an empty file is not."""
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline())
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(header, dict) and header.get("name") == name


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
