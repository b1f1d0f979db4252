"""The documentation site: it builds without a warning, and has every page of `docs/` in its navigation."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import yaml

from tests.docs import flags


def test_the_site_builds(repository: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "definitions" / "index.html").is_file()


def test_the_reference_of_flags_is_that_of_the_parsers() -> None:
    assert flags.PAGE.read_text(encoding="utf-8") == flags.render(), "run 'python -m tests.docs.flags'"


def _pages(navigation: object) -> list[str]:
    if isinstance(navigation, str):
        return [navigation]
    values = navigation.values() if isinstance(navigation, dict) else navigation
    assert not isinstance(values, str)
    return [page for value in values for page in _pages(value)]  # type: ignore[attr-defined]


def test_every_page_is_in_the_navigation(repository: Path) -> None:
    site = yaml.safe_load((repository / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = {path.relative_to(repository / "docs").as_posix() for path in (repository / "docs").rglob("*.md")}
    assert set(_pages(site["nav"])) == pages
