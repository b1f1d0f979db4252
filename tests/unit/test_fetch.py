"""The cache of what tests need: a folder is whole or absent, and a missing one names the command."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest

from tests import fetch


def _fill(folder: Path) -> None:
    (folder / "file").write_text("text", encoding="utf-8")


def _fail(folder: Path) -> None:
    _fill(folder)
    raise RuntimeError("no such package")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(fetch.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(fetch, "RESOURCES", MappingProxyType({"good": _fill, "bad": _fail}))
    return tmp_path / "cache"


def test_fetches_what_is_missing(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fetch.main(["good"]) == 0
    assert fetch.main(["good"]) == 0
    assert capsys.readouterr().out == f"fetched {cache / 'good'}\n"
    assert (fetch.resource("good") / "file").read_text(encoding="utf-8") == "text"


def test_a_failure_leaves_nothing(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fetch.main([]) == 1
    assert capsys.readouterr().err == "bad: no such package\n"
    assert [path.name for path in cache.iterdir()] == ["good"]


def test_a_missing_resource_fails_and_names_the_command(cache: Path) -> None:
    with pytest.raises(pytest.fail.Exception, match=r"run 'python -m tests\.fetch bad'"):
        fetch.resource("bad")


def test_lists_resources(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fetch.fetch("good")
    assert fetch.main(["--list"]) == 0
    assert capsys.readouterr().out == "good: there\nbad: missing\n"
