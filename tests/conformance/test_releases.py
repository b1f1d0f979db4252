"""Every release's generator and opgen side by side, on that release's own definitions: the same files and tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.conformance.releases import TESTED, compare

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("version", "name"), TESTED)
def test_writes_what_the_generator_of_the_release_writes(version: str, name: str, tmp_path: Path) -> None:
    for folder, report in compare(version, name, tmp_path):
        assert report.compared > 0
        if not report.is_same:
            pytest.fail(f"torch {version}, {folder}: {report.render(show=5)}", pytrace=False)
