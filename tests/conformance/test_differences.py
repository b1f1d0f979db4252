"""What docs/differences.md says of torchgen, seen in torchgen: a few operators, one run, what it raises or writes.

A case belongs to the row that begins with its words. That opgen does what the row says of it is shown by the test that
the row names; here opgen's exit code shows that it takes what the row says it takes.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Final

import pytest

from opgen.__main__ import main
from tests.conformance.difference_cases import CASES, Case
from tests.conformance.runs import run_command

DOCUMENT: Final = Path(__file__).resolve().parents[2] / "docs" / "differences.md"


def _lay_out(case: Case, folder: Path, torch_source: Path) -> None:
    (folder / "src/native").mkdir(parents=True)
    (folder / "src/templates").symlink_to(torch_source / "templates")
    shutil.copy(torch_source / "native/tags.yaml", folder / "src/native")
    (folder / "src/native/native_functions.yaml").write_text(case.definitions, encoding="utf-8")
    for path, text in case.files.items():
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    if case.generator in ("autograd", "python"):
        (folder / "autograd/templates").symlink_to(torch_source.parent / "autograd/templates")


@pytest.fixture(scope="module")
def torchgen(tmp_path_factory: pytest.TempPathFactory, torch_source: Path) -> Path:
    """A folder for each case, with what torchgen made of it."""
    root = tmp_path_factory.mktemp("differences")
    for number, case in enumerate(CASES):
        _lay_out(case, root / str(number), torch_source)
    listed = [(str(root / str(number)), case.generator, case.flags) for number, case in enumerate(CASES)]
    (root / "cases.json").write_text(json.dumps(listed), encoding="utf-8")
    done = run_command([sys.executable, "-m", "tests.conformance.differences_oracle", "cases.json"], root)
    assert done.code == 0, done.err
    return root


def test_every_case_is_about_a_row() -> None:
    rows = DOCUMENT.read_text(encoding="utf-8").splitlines()
    begins = {case.row: sum(row.startswith(f"| {case.row}") for row in rows) for case in CASES}
    assert {row: count for row, count in begins.items() if count != 1} == {}


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: f"{number}-{CASES[number].row[:40]}")
def test_torchgen_does_what_the_row_says(number: int, torchgen: Path) -> None:
    case, folder = CASES[number], torchgen / str(number)
    raised = (folder / "raised").read_text(encoding="utf-8")
    assert bool(raised) == bool(case.raises), raised
    assert case.raises in raised
    out = folder / (case.flags[1] if case.flags[:1] == ("-d",) else "out")
    for path, pattern in case.writes.items():
        assert (out / path).is_dir() or re.search(pattern, (out / path).read_text(encoding="utf-8")), path
    for path, pattern in case.lacks.items():
        assert not (out / path).exists() or (
            pattern and not re.search(pattern, (out / path).read_text(encoding="utf-8"))
        )


@pytest.mark.parametrize("case", [case for case in CASES if case.generator == "gen"], ids=lambda case: case.row[:40])
def test_opgen_takes_what_the_row_says(
    case: Case, torch_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _lay_out(case, tmp_path, torch_source)
    monkeypatch.chdir(tmp_path)
    assert main(["gen", "-s", "src", "-d", "out", "-q", *case.flags]) == case.code
