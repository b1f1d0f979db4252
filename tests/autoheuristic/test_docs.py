"""The commands and programs of docs/autoheuristic.md run as written, and print what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).resolve().parents[2] / "docs" / "autoheuristic.md"
BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _indented(text: str) -> set[str]:
    """The lines of blocks that are indented, without the indentation."""
    return {line.strip() for line in text.splitlines() if line.startswith("    ")}


def test_the_tutorial_runs_as_written(tmp_path: Path) -> None:
    text = DOCS.read_text(encoding="utf-8")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])
    printed = list[str]()
    for language, block in BLOCK.findall(text):
        if language == "python" and not block.startswith("# "):
            assert block in (tmp_path / "heuristics" / "_Toy.py").read_text(encoding="utf-8")
            continue
        if language == "python":
            (tmp_path / block.split()[1]).write_text(block, encoding="utf-8")
            continue
        assert language == "bash"
        done = subprocess.run(
            ["bash", "-e", "-c", block],
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed += [line.strip() for line in done.stdout.splitlines()]
    assert [line for line in printed if " changed, " not in line] != []
    missing = [line for line in printed if " changed, " not in line and line not in _indented(text)]
    assert not missing, "the page doesn't show this"
    assert {path.name for path in (tmp_path / "drawings").iterdir()} == {"Toy.tree.svg", "Toy.choices.svg"}


def test_every_flag_is_described() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for argv in (["--help"], ["collect", "--help"], ["show", "--help"]):
        shown = subprocess.run(
            [sys.executable, "-m", "opgen", "autoheuristic", *argv],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        flags = set(re.findall(r"(?<![\w-])--[a-z-]+", shown)) - {"--help", "--version"}
        assert flags
        assert [flag for flag in sorted(flags) if flag not in text] == []
