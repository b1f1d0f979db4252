"""The same definitions give the same bytes wherever they are, and a second run touches nothing.

`tests/incremental/test_determinism.py` changes what surrounds the run.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.conformance.compare import files_below
from tests.conformance.flagsets import FlagSet
from tests.conformance.runs import run_command

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

PLAIN = {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8"}
# Without UTF-8 mode and locale coercion, a file opened with no encoding named would be ASCII.
STRANGE = {"PYTHONHASHSEED": "4242", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Asia/Tokyo"}


def _generate(
    generator: str, source: Path, arguments: Sequence[str], out: Path, cwd: Path, environment: dict[str, str]
) -> None:
    cwd.mkdir(parents=True, exist_ok=True)
    places = ["-d", str(out / "ATen"), "--aoti-install-dir", str(out / "aoti"), *arguments]
    run = run_command([*FlagSet("run", install_dir=False).command(generator, source), *places], cwd, environment)
    if run.code != 0:
        pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)


def files_of(root: Path) -> list[Path]:
    """All files below a folder but what opgen keeps for itself, which says when and where files were written."""
    return [root / name for name in sorted(files_below(root))]


def _contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files_of(root)}


@pytest.fixture(scope="module")
def first(generator: str, torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a run writes, in a folder of its own."""
    folder = tmp_path_factory.mktemp("first")
    _generate(generator, torch_source, (), folder, folder / "cwd", PLAIN)
    return folder


def test_the_place_of_the_definitions_leaves_no_trace(
    generator: str, torch_source: Path, first: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "a folder with spaces" / "ATen"
    shutil.copytree(torch_source, copied)
    _generate(generator, copied, (), tmp_path / "b", tmp_path / "cwd", PLAIN)
    expected, actual = _contents(first), _contents(tmp_path / "b")
    assert sorted(expected) == sorted(actual)
    assert [name for name, text in expected.items() if text != actual[name]] == []
    traces = [name for name, text in actual.items() if str(tmp_path).encode() in text]
    assert traces == []


def test_a_second_run_touches_nothing(generator: str, torch_source: Path, first: Path) -> None:
    before = {path: path.stat() for path in files_of(first)}
    _generate(generator, torch_source, (), first, first / "cwd", STRANGE)
    after = {path: path.stat() for path in files_of(first)}
    assert sorted(before) == sorted(after)
    touched = [
        path.name
        for path, stat in before.items()
        if (stat.st_mtime_ns, stat.st_ino) != (after[path].st_mtime_ns, after[path].st_ino)
    ]
    assert touched == []
