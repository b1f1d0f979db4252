"""Releases of torch: the values, and which one a run is for."""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from opgen.commands._all import command_names
from opgen.diagnostics import Diagnostics
from opgen.releases import choice
from opgen.releases.choice import choose_release
from opgen.releases.known import describe_releases, known_releases, newest_release
from opgen.run.command import Command
from opgen.run.spine import run
from opgen.schema.types import OF_SOME_RELEASES
from tests.fetch import TORCH_VERSIONS


def test_releases_are_in_order_and_hashable() -> None:
    names = [release.name for release in known_releases()]
    assert names == [version.rpartition(".")[0] for version in TORCH_VERSIONS]
    assert describe_releases() == f"torch {', '.join(names)}"
    assert len(set(known_releases())) == len(names)


def test_types_that_some_release_lacks_are_not_suggested() -> None:
    assert {type for release in known_releases() for type in release.missing_types} == OF_SOME_RELEASES


def test_each_release_says_its_version() -> None:
    for release in known_releases():
        module = importlib.import_module(f"opgen.releases.v{release.name.replace('.', '_')}")
        assert getattr(module, f"V{release.name.replace('.', '_')}") is release


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
    assert f"newer than torch {newest_release().name}" in log.render()
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


DEFINITIONS: Final = """\
- func: mylib::twice(Tensor self) -> Tensor
  structured_delegate: twice.out
- func: mylib::twice_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: twice.out
- func: mylib::twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  tags: out_variant
  dispatch:
    CPU: twice_out
"""


@pytest.fixture
def ops(tmp_path: Path) -> Path:
    """The definitions of an extension."""
    folder = tmp_path / "ops" / "native"
    folder.mkdir(parents=True)
    (folder / "native_functions.yaml").write_text(DEFINITIONS, encoding="utf-8")
    return folder.parent


def _generate(ops: Path, *flags: str) -> int:
    out = ops.parent / "out"
    shutil.rmtree(out, ignore_errors=True)
    return run("gen", ["--quiet", "--source-path", str(ops), "--install-dir", str(out), *flags])


def _written(ops: Path) -> dict[str, bytes]:
    out = ops.parent / "out"
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("[!.]*") if path.is_file()}


def test_an_extension_is_the_same_for_all_releases(ops: Path) -> None:
    """So its sources can be handed on: they compile with the headers of each release."""
    assert _generate(ops) == 0
    expected = _written(ops)
    for release in known_releases():
        assert _generate(ops, "--torch-version", release.name) == 0
        assert _written(ops) == expected
    schemas = expected["RegisterSchema.cpp"].decode()
    for tag in ("inplace", "out", "out_variant"):
        # Not all releases have these tags.
        assert f"at::Tag::{tag}" not in schemas
        assert f"add_{tag}(tags, 0);" in schemas


def test_an_extension_is_refused_for_a_release_that_is_too_old(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _generate(ops, "--torch-version", "2.9.1") == 1
    assert "says 2.9.1, but opgen supports torch 2.10 and newer" in capsys.readouterr().err
    assert not (ops.parent / "out").exists()


def test_an_extension_is_made_for_a_release_that_is_too_new(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--source-path", str(ops), "--install-dir", str(ops.parent / "out"), "--torch-version", "3.0"]
    assert run("gen", flags) == 0
    assert f"newer than torch {newest_release().name}" in capsys.readouterr().err


WITHOUT_DEFINITIONS: Final = (
    *("autoheuristic", "completion", "decompositions", "fuse", "gen_mlx", "gen_mobile_upgraders", "import", "new"),
    "schema",
)
"""The commands that don't read any of a release of torch."""


@pytest.mark.parametrize("name", command_names())
def test_a_command_has_the_flag_if_it_reads_definitions(name: str) -> None:
    command: Command = importlib.import_module(f"opgen.commands.{name}").COMMAND
    for parser in _parsers(command.build_parser()):
        assert ("--torch-version" in parser.format_help()) != (name in WITHOUT_DEFINITIONS), parser.prog


def _parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser; if its first word chooses another, those."""
    chosen = [each for each in parser._actions if isinstance(each, argparse._SubParsersAction)]
    yield from (each for action in chosen for each in action.choices.values())
    if not chosen:
        yield parser
