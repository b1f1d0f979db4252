"""The documentation site: it builds without a warning, and has every page of `docs/` in its navigation."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from tests.desk.browser import DESKTOP, PHONE, Browser
from tests.docs import flags, keys


@pytest.fixture(scope="module")
def site(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_site_builds(site: Path) -> None:
    assert (site / "definitions" / "index.html").is_file()


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The address of the site, served on this machine."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_pages_load_nothing_from_elsewhere_and_fit_on_a_phone(served: str) -> None:
    with Browser() as browser:
        for name, size in (("tutorial", DESKTOP), ("flags", PHONE), ("how-to/import", PHONE)):
            browser.resize(size)
            browser.visit(f"{served}{name}/")
            assert browser.text("h1")
            assert browser.run("return document.documentElement.scrollWidth") <= size[0]
            loaded = browser.run("return performance.getEntriesByType('resource').map(each => each.name)")
            assert [each for each in loaded if not each.startswith(served)] == []
        # Pages follow the system's choice of light and dark.
        for scheme, is_dark in (("light", False), ("dark", True)):
            browser.prefer(scheme)
            browser.visit(f"{served}tutorial/")
            colour = browser.run("return getComputedStyle(document.body).backgroundColor")
            assert (sum(map(int, re.findall(r"\d+", colour)[:3])) < 3 * 128) is is_dark, colour
        assert browser.complaints() == []


def test_the_reference_of_flags_is_that_of_the_parsers() -> None:
    assert flags.PAGE.read_text(encoding="utf-8") == flags.render(), "run 'python -m tests.docs.flags'"


def test_the_reference_of_keys_is_that_of_the_readers() -> None:
    assert keys.PAGE.read_text(encoding="utf-8") == keys.render(), "run 'python -m tests.docs.keys'"


def test_the_figures_of_the_readme_are_those_of_the_page_on_performance(repository: Path) -> None:
    section = (repository / "README.md").read_text(encoding="utf-8").partition("## Compared with torchgen")[2]
    figures = re.findall(r"[\d,.]+ (?:s|MB|files)\b", section.partition("\n## ")[0])
    assert len(figures) >= 8
    known = (repository / "docs" / "performance.md").read_text(encoding="utf-8")
    assert [figure for figure in figures if figure not in known] == []


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
