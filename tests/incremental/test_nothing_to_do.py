"""A run with nothing to do does nothing, and whatever there is to do is noticed."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from opgen import gen
from opgen.commands import gen as gen_command
from opgen.diagnostics import Diagnostics
from opgen.output.manifest import FORMAT, digest, load_records
from opgen.output.manifest import NAME as MANIFEST
from opgen.run.command import Action

TICK = 0.03
"""Longer than the manifest distrusts the times of files."""

RUN = ["-s", "ops", "-d", "out", "--per-operator-headers"]


class Runs:
    """Counts the runs that did not find everything in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.full = 0
        load = gen_command.COMMAND.load

        def counted(options: argparse.Namespace, log: Diagnostics) -> Action | None:
            self.full += 1
            return load(options, log)

        monkeypatch.setattr(gen_command, "COMMAND", replace(gen_command.COMMAND, load=counted))

    def does_all(self, *argv: str) -> bool:
        """Whether a run does more than look."""
        before = self.full
        assert gen.main(argv or RUN) == 0
        return self.full > before


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    time.sleep(TICK)
    return tmp_path


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, here: Path) -> Runs:
    runs = Runs(monkeypatch)
    assert runs.does_all()
    assert not runs.does_all()
    return runs


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_it_says_the_same(here: Path, runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    count = len(tree(here / "out"))
    assert not runs.does_all()
    assert capsys.readouterr().out.splitlines()[-1].startswith(f"out: {count} files, 0 changed, ")
    assert runs.does_all(*RUN, "--quiet")
    assert not runs.does_all(*RUN, "--quiet")
    capsys.readouterr()
    assert not runs.does_all(*RUN, "--quiet")
    assert capsys.readouterr() == ("", "")


def test_warnings_are_said_again(here: Path, runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    flags = [*RUN, "--aoti-install-dir", "aoti"]
    assert runs.does_all(*flags)
    first = capsys.readouterr().err
    assert "not found, so it can't be checked" in first
    assert not runs.does_all(*flags)
    assert capsys.readouterr().err == first
    (here / "aoti/c_shim_cpu.h").write_text("other")
    assert gen.main(flags) == 1


@pytest.mark.parametrize("change", ["edit", "same size", "delete", "replace by a folder"])
def test_a_changed_output_is_mended(here: Path, runs: Runs, change: str) -> None:
    before, path = tree(here / "out"), here / "out/ops/scale.h"
    data = path.read_bytes()
    time.sleep(TICK)
    path.unlink()
    if change == "replace by a folder":
        path.mkdir()
        assert gen.main(RUN) == 1
        path.rmdir()
    elif change != "delete":
        path.write_bytes(data + b"x" if change == "edit" else b"x" + data[1:])
    assert runs.does_all()
    assert tree(here / "out") == before


def test_an_edit_within_a_tick_of_the_clock_is_noticed(here: Path, runs: Runs) -> None:
    path = here / "out/ops/scale.h"
    for _ in range(20):
        data = path.read_bytes()
        path.write_bytes(b"x" + data[1:])
        assert runs.does_all()
        assert path.read_bytes() == data


def test_touched_is_not_changed(here: Path, runs: Runs) -> None:
    for path in (
        here / "ops/native/native_functions.yaml",
        here / "ops/templates/Function.h",
        here / "out/Functions.h",
    ):
        path.write_bytes(path.read_bytes())
        os.utime(path, (1, 1))
    assert not runs.does_all()


@pytest.mark.parametrize("path", ["native/native_functions.yaml", "native/tags.yaml", "templates/Function.h"])
def test_a_changed_input_is_noticed(here: Path, runs: Runs, path: str) -> None:
    (here / "ops" / path).write_text((here / "ops" / path).read_text() + "\n")
    assert runs.does_all()


def test_a_template_that_is_not_used_may_change(here: Path, runs: Runs) -> None:
    (here / "ops/templates/New.h").write_text("new")
    assert not runs.does_all()


def test_changed_flags_are_noticed(here: Path, runs: Runs) -> None:
    assert runs.does_all(*RUN, "--rocm")
    assert runs.does_all(*RUN, "--jobs", "1")
    assert not runs.does_all(*RUN, "--jobs", "1")
    assert runs.does_all(*RUN)


def test_another_folder_is_noticed(here: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(here / "out", here / "copy")
    assert runs.does_all("-s", "ops", "-d", "copy", "--per-operator-headers")
    shutil.copytree(here / "ops", here / "below/ops")
    shutil.copytree(here / "out", here / "below/out")
    monkeypatch.chdir(here / "below")
    assert runs.does_all()


def test_another_opgen_is_noticed(
    here: Path, runs: Runs, repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    home = tmp_path_factory.mktemp("opgen")
    shutil.copytree(Path(gen.__file__).parent, home / "opgen", ignore=shutil.ignore_patterns("__pycache__", "packaged"))
    (home / "opgen/packaged").symlink_to(repository / "opgen/packaged")
    (home / "templates").symlink_to(repository / "templates")
    command = [sys.executable, "-X", "importtime", "-m", "opgen.gen", *RUN, "-v"]
    environment = {**os.environ, "PYTHONPATH": str(home), "PYTHONDONTWRITEBYTECODE": "1"}

    def imports() -> str:
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stderr

    time.sleep(TICK)
    assert "opgen.model" in imports()
    assert "opgen.model" not in imports()
    assert "yaml" not in imports()
    model = home / "opgen/model.py"
    model.write_text(model.read_text() + "\n# another\n")
    assert "opgen.model" in imports()


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{}",
        b"\x00\xff",
        b'{"opgen manifest": 1, "digest": ""}\n[]',
        b'{"opgen manifest": 4, "digest": ""}\n{}',
        b'{"opgen manifest": 4, "digest": "e3b0c44298fc1c149afbf4c8996fb924"}\n',
        b"[" * 100_000,
    ],
)
def test_a_damaged_manifest_is_none(here: Path, runs: Runs, damage: bytes) -> None:
    before = tree(here / "out")
    (here / "out" / MANIFEST).write_bytes(damage)
    assert load_records(here / "out") == ()
    assert runs.does_all()
    assert tree(here / "out") == before
    assert not runs.does_all()


def test_a_manifest_that_lost_its_end_is_none(here: Path, runs: Runs) -> None:
    path = here / "out" / MANIFEST
    whole = path.read_bytes()
    for end in range(0, len(whole), max(1, len(whole) // 40)):
        path.write_bytes(whole[:end])
        assert load_records(here / "out") == ()


def test_a_manifest_that_lies_harms_nothing(here: Path, runs: Runs) -> None:
    """One that claims files of others as its own: they are not as it says, or not below the folder."""
    victims = {here / "out/mine.h": "mine", here / "mine.h": "mine too"}
    for path, text in victims.items():
        path.write_text(text)
    manifest = here / "out" / MANIFEST
    _, _, body = manifest.read_bytes().partition(b"\n")
    record = json.loads(body)
    outside = "47c3ae7a5be1c7ac1b2c5b8a1fe9a9ab"
    record["outputs"] |= {"out/mine.h": [outside, 4, 0, 0], "mine.h": [outside, 8, 0, 0], "out/\0": [outside, 1, 1, 1]}
    record["inputs"]["ops/native/tags.yaml"] = ["", 0, 0, 0]
    _write_manifest(manifest, record)
    assert runs.does_all()
    assert {path: path.read_text() for path in victims} == victims


def _write_manifest(path: Path, record: dict[str, object]) -> None:
    body = json.dumps(record).encode()
    path.write_bytes(json.dumps({"opgen manifest": FORMAT, "digest": digest(body)}).encode() + b"\n" + body)


def test_files_below_the_folder_only_are_removed(here: Path, runs: Runs) -> None:
    """Even if the manifest has their very digests."""
    (here / "mine.h").write_text("mine")
    (here / "elsewhere").mkdir()
    (here / "elsewhere/mine.h").write_text("mine")
    (here / "out/link").symlink_to(here / "elsewhere")
    (here / "out/link.h").symlink_to(here / "mine.h")
    manifest = here / "out" / MANIFEST
    _, _, body = manifest.read_bytes().partition(b"\n")
    record = json.loads(body)
    state = [digest(b"mine"), 4, 0, 0]
    paths = ("mine.h", "out/../mine.h", "out/link/mine.h", "out/link.h", str(here / "mine.h"))
    record["outputs"] |= dict.fromkeys(paths, state)
    record["inputs"]["ops/native/tags.yaml"] = ["", 0, 0, 0]
    _write_manifest(manifest, record)
    assert runs.does_all()
    assert (here / "mine.h").exists()
    assert (here / "elsewhere/mine.h").exists()
    assert (here / "out/link.h").is_symlink()
