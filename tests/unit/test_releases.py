"""Releases of torch: the values, and which one a run is for."""

from __future__ import annotations

import sys
from dataclasses import fields
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.releases import choice
from opgen.releases.choice import choose_release
from opgen.releases.known import describe_releases, known_releases, newest_release
from opgen.releases.release import Release


def test_releases_are_in_order_and_hashable() -> None:
    names = [release.name for release in known_releases()]
    assert names == ["2.10", "2.11", "2.12", "2.13", "2.14", "2.15"]
    assert describe_releases() == f"torch {', '.join(names)}"
    assert len(set(known_releases())) == len(names)


def test_each_release_changes_something() -> None:
    old, *others = known_releases()
    for new in others:
        changed = [each.name for each in fields(Release) if getattr(old, each.name) != getattr(new, each.name)]
        assert changed[0] == "version"
        assert len(changed) > 1, f"torch {new.name} is as torch {old.name}: then it needs no value of its own"
        old = new


def _chosen(definitions: Path | None, wanted: str | None = None) -> str:
    log = Diagnostics()
    chosen = choose_release(definitions, wanted, log)
    return chosen.release.name if chosen is not None else log.render()


@pytest.mark.parametrize(
    ("wanted", "name"),
    [("2.10", "2.10"), ("2.12.1", "2.12"), ("2.13.0+cpu", "2.13"), ("2.14.0a0+git1234", "2.14"), ("2.15.0rc1", "2.15")],
)
def test_what_the_user_says_decides(wanted: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "aten").mkdir()
    (tmp_path / "version.txt").write_text("2.11.0a0\n", encoding="utf-8")
    assert _chosen(tmp_path, wanted) == name


def test_a_checkout_says_its_version(tmp_path: Path) -> None:
    native = tmp_path / "aten" / "src" / "ATen" / "native" / "native_functions.yaml"
    native.parent.mkdir(parents=True)
    native.touch()
    (tmp_path / "version.txt").write_text("2.11.0a0\n", encoding="utf-8")
    for place in (native, native.parents[1], tmp_path / "third_party" / "xpu" / "yaml"):
        log = Diagnostics()
        chosen = choose_release(place, None, log)
        assert chosen is not None
        assert chosen.release.name == "2.11"
        assert chosen.read == (tmp_path.resolve() / "version.txt",)


def test_torch_beside_the_generator_says_its_version(tmp_path: Path) -> None:
    folder = tmp_path / "torchgen" / "packaged" / "ATen"
    folder.mkdir(parents=True)
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2.12.1+cu130'\n", encoding="utf-8")
    assert _chosen(folder) == "2.12"
    (tmp_path / "torch" / "version.py").write_text('__version__: str = "2.14.1"\n', encoding="utf-8")
    assert _chosen(folder) == "2.14"


def test_the_version_of_another_project_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "version.txt").write_text("0.1.0\n", encoding="utf-8")
    monkeypatch.setattr(choice, "find_spec", lambda name: None)
    assert _chosen(tmp_path / "ops") == newest_release().name


def test_the_installed_torch_decides_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").touch()
    (tmp_path / "torch" / "version.py").write_text("__version__ = '2.11.0+cpu'\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert _chosen(None) == "2.11"


def test_too_old_and_too_new() -> None:
    assert "opgen supports torch 2.10 and newer" in _chosen(None, "2.9.1")
    assert "is not a version of torch" in _chosen(None, "two")
    log = Diagnostics()
    chosen = choose_release(None, "3.0", log)
    assert chosen is not None
    assert chosen.release is newest_release()
    assert "newer than torch 2.15" in log.render()
    assert not log.has_errors


def test_definitions_with_a_removed_type_are_of_a_release_that_has_it(tmp_path: Path) -> None:
    """A backend's tree may have definitions of an older torch than the checkout that it is in."""
    (tmp_path / "torchgen").mkdir()
    (tmp_path / "version.txt").write_text("2.14.0a0\n", encoding="utf-8")
    yaml = tmp_path / "third_party" / "backend" / "native" / "native_functions.yaml"
    yaml.parent.mkdir(parents=True)
    yaml.write_text("- func: f(Tensor self, Dimname[1] dim) -> Tensor\n", encoding="utf-8")
    log = Diagnostics()
    for place in (yaml, yaml.parents[1]):
        chosen = choose_release(place, None, log)
        assert chosen is not None
        assert chosen.release.name == "2.12"
    assert "the definitions have 'Dimname', so they are treated as those of torch 2.12" in log.render()
    assert _chosen(yaml, "2.14") == "2.14"
    yaml.write_text("- func: Dimname_f(Tensor self) -> Tensor  # no Dimname\n", encoding="utf-8")
    assert _chosen(yaml) == "2.14"
