"""The commands of autograd, bindings and stubs: nothing is done when nothing changed, by one process or several."""

from __future__ import annotations

import argparse
import importlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.output.manifest import NAME as MANIFEST
from opgen.run.command import Action, Command

TICK = 0.03
"""Longer than the manifest distrusts the times of files."""
INPUTS = ("ops/native/native_functions.yaml", "ops/native/tags.yaml")
COMMANDS = ("gen_autograd", "gen_python", "gen_pyi", "gen_annotated_fn_args")
NEW_OPERATOR = "\n- func: newest(Tensor self) -> Tensor\n  variants: function, method\n"


def run(command: str, out: str, *flags: str) -> int:
    code: int = importlib.import_module(f"opgen.{command}").main([*INPUTS, out, "ops/autograd", *flags])
    return code


def tree(folder: str) -> dict[str, bytes]:
    files = (path for path in Path(folder).rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    time.sleep(TICK)
    return tmp_path


@pytest.fixture
def does_work(here: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., bool]:
    """Whether a command does more than look."""
    works: list[str] = []
    for name in COMMANDS:
        module = importlib.import_module(f"opgen.commands.{name}")
        monkeypatch.setattr(module, "COMMAND", _counted(module.COMMAND, works))

    def ask(command: str, *flags: str) -> bool:
        works.clear()
        assert run(command, "out", *flags) == 0
        return bool(works)

    return ask


def _counted(command: Command, works: list[str]) -> Command:
    def load(options: argparse.Namespace, log: Diagnostics) -> Action | None:
        works.append(command.name)
        return command.load(options, log)

    return replace(command, load=load)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_there_is_to_do_is_noticed(command: str, does_work: Callable[..., bool], here: Path) -> None:
    assert does_work(command)
    assert not does_work(command)
    assert does_work(command, "--quiet")
    assert not does_work(command, "--quiet")
    written = tree("out")
    spoilt = next(path for path in sorted((here / "out").rglob("[!.]*")) if path.is_file())
    spoilt.write_text("spoilt")
    assert does_work(command)
    spoilt.unlink()
    assert does_work(command)
    assert tree("out") == written
    with (here / INPUTS[0]).open("a") as definitions:
        definitions.write(NEW_OPERATOR)
    time.sleep(TICK)
    assert does_work(command)
    assert any(b"newest" in text for text in tree("out").values())
    assert not does_work(command)


@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize(
    ("command", "name"),
    [("gen_autograd", "derivatives.yaml"), ("gen_python", "derivatives.yaml"), ("gen_python", "deprecated.yaml")],
)
def test_what_one_piece_reads_is_noticed(
    command: str, name: str, does_work: Callable[..., bool], capsys: pytest.CaptureFixture[str]
) -> None:
    assert does_work(command, "--jobs", "2")
    assert not does_work(command, "--jobs", "2")
    written, folder = tree("out"), Path("ops", "autograd")
    (folder / name).write_text("- name: nonsense\n")
    assert run(command, "out", "--jobs", "2") == 1
    assert f"{name}:1:" in capsys.readouterr().err
    assert tree("out") == written


def test_templates_of_ones_own_are_noticed(does_work: Callable[..., bool], here: Path) -> None:
    own = here / "ops" / "autograd" / "templates"
    shutil.move(own, here / "kept")
    assert does_work("gen_autograd")
    assert not does_work("gen_autograd")
    shutil.move(here / "kept", own)
    assert does_work("gen_autograd")


@pytest.mark.usefixtures("forking")
def test_one_command_does_what_two_do(here: Path) -> None:
    """And by one process what several do; none removes what others wrote."""
    assert run("gen_autograd", "two") == 0
    assert run("gen_python", "two") == 0
    for jobs in ("1", "2", "4"):
        assert run("gen_autograd", jobs, "--bindings", "--jobs", jobs) == 0
        assert tree(jobs) == tree("two")


def test_a_build_hears_what_was_read(does_work: Callable[..., bool], here: Path) -> None:
    flags = ("--bindings", "--stamp", "stamp", "--depfile", "stamp.d")
    assert does_work("gen_autograd", *flags)
    rule = (here / "stamp.d").read_text()
    assert rule.startswith("stamp: ")
    wanted = [
        *INPUTS,
        "ops/autograd/derivatives.yaml",
        "ops/autograd/deprecated.yaml",
        "opgen/commands/gen_autograd.py",
    ]
    assert [name for name in wanted if name not in rule] == []
    (here / "stamp").unlink()
    assert not does_work("gen_autograd", *flags)
    assert (here / "stamp").exists()
    (here / "stamp.d").unlink()
    assert does_work("gen_autograd", *flags)


def test_a_build_hears_what_every_process_imported(here: Path, repository: Path) -> None:
    def rule(jobs: str) -> str:
        told = ("--stamp", "stamp", "--depfile", f"{jobs}.d")
        flags = [*INPUTS, jobs, "ops/autograd", "--bindings", "--quiet", "--jobs", jobs, *told]
        # Each has a Python of its own, or else the second one has the modules of the first.
        environment = {**os.environ, "PYTHONPATH": str(repository)}
        subprocess.run([sys.executable, "-m", "tests.forking", "gen_autograd", *flags], env=environment, check=True)
        return (here / f"{jobs}.d").read_text()

    one = rule("1")
    emitters = ("variable_type", "trace_type", "python_methods", "python_nodes")
    assert [name for name in emitters if f"opgen/dest/{name}.py" not in one] == []
    assert rule("2") == rule("3") == one


def test_what_was_read_needs_a_stamp(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("gen_python", "out", "--depfile", "out.d") == 1
    assert "--depfile needs --stamp" in capsys.readouterr().err
    assert not (here / "out").exists()
