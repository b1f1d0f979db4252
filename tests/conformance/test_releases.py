"""Every release's generator and opgen side by side, on that release's own definitions: the same files and tokens.

The numbers of files are those of the table in docs/releases.md.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.conformance.compare import EqualTexts
from tests.conformance.releases import COMPARISONS, TESTED, compare
from tests.fetch import TORCH_VERSIONS

PAGE: Final = Path(__file__).resolve().parents[2] / "docs" / "releases.md"


def documented() -> dict[str, dict[str, int]]:
    """The number of equal files that the page gives, by release and comparison."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in PAGE.read_text("utf-8").splitlines()]
    names = next(row[1:] for row in rows if row[0] == "torch")
    counts = [row for row in rows if row[0] in TORCH_VERSIONS and len(row) == len(names) + 1]
    return {row[0]: dict(zip(names, map(int, row[1:]), strict=True)) for row in counts}


def test_the_page_has_all_releases_and_comparisons() -> None:
    assert {version: {*row} for version, row in documented().items()} == {
        version: {*COMPARISONS} for version in TORCH_VERSIONS
    }


@pytest.mark.parametrize(("version", "name"), TESTED)
def test_writes_what_the_generator_of_the_release_writes(
    version: str, name: str, equals: EqualTexts, tmp_path: Path
) -> None:
    reports = dict(compare(version, name, tmp_path, equals))
    different = [f"{folder}: {report.render(show=5)}" for folder, report in reports.items() if not report.is_same]
    if different:
        pytest.fail(f"torch {version}, {' '.join(different)}", pytrace=False)
    assert sum(report.compared for report in reports.values()) == documented()[version][name]
