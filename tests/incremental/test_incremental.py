"""After any edit a folder is what a fresh run makes of it, byte for byte, and nothing else was touched."""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from opgen import gen
from opgen.output.manifest import NAME as MANIFEST

ROUNDS = 8

ADDITIONS = (
    "- func: extra(Tensor self, int n=1) -> Tensor\n  variants: function, method\n",
    "- func: extra.out(Tensor self, int n=1, *, Tensor(a!) out) -> Tensor(a!)\n",
    "- func: other_extra(SymInt[] sizes) -> Tensor\n  dispatch:\n    CPU: other_extra_cpu\n",
    "- func: many(Tensor[] tensors, *, Scalar alpha=2) -> Tensor[]\n",
)

Stamps = dict[str, tuple[int, int]]


def tree(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def stamps(folder: Path) -> Stamps:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.stat().st_ino) for path in files}


def entries(text: str) -> list[str]:
    return re.findall(r"^- func:.*\n(?:(?!- func:).*\n)*", text, re.MULTILINE)


def add(found: list[str], chance: random.Random) -> list[str]:
    return [*found, *(text for text in ADDITIONS if text not in found and chance.random() < 0.5)]


def remove(found: list[str], chance: random.Random) -> list[str]:
    gone = [text for text in ADDITIONS if text in found]
    # An out form can't stay without the form that it is the out form of.
    return [text for text in found if text not in gone or chance.random() < 0.3]


def reorder(found: list[str], chance: random.Random) -> list[str]:
    return chance.sample(found, len(found))


def change_a_default(found: list[str], chance: random.Random) -> list[str]:
    return [re.sub(r"alpha=\d+", f"alpha={chance.randrange(9)}", text) for text in found]


def change_a_kernel(found: list[str], chance: random.Random) -> list[str]:
    return [re.sub(r"other_extra_cpu\w*", f"other_extra_cpu{chance.randrange(9)}", text) for text in found]


EDITS: tuple[Callable[[list[str], random.Random], list[str]], ...] = (
    add,
    remove,
    reorder,
    change_a_default,
    change_a_kernel,
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("forking")
@pytest.mark.parametrize(
    "flags", [["-j1"], ["--per-operator-headers", "-j1"], ["--per-operator-headers", "--jobs", "2"]]
)
@pytest.mark.parametrize("seed", range(2))
def test_any_edits(here: Path, seed: int, flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    chance, definitions = random.Random(seed), here / "ops/native/native_functions.yaml"
    found = entries(definitions.read_text())
    assert gen.main(["-s", "ops", "-d", "out", *flags]) == 0
    for round in range(ROUNDS):
        edited = chance.choice(EDITS)(found, chance)
        definitions.write_text("".join(edited))
        before, stamped = tree(here / "out"), stamps(here / "out")
        assert gen.main(["-s", "ops", "-d", f"fresh{round}", *flags]) in (0, 1)
        code = gen.main(["-s", "ops", "-d", "out", *flags])
        if code == 0:
            found = edited
            assert tree(here / "out") == tree(here / f"fresh{round}"), capsys.readouterr().err
        else:
            assert tree(here / "out") == before
        after = tree(here / "out")
        same = {name for name, data in before.items() if after.get(name) == data}
        now = stamps(here / "out")
        assert {name: stamped[name] for name in same} == {name: now[name] for name in same}


def test_files_of_an_operator_that_is_gone_go_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definitions = here / "ops/native/native_functions.yaml"
    original = definitions.read_text()
    run = ["-s", "ops", "-d", "out", "--per-operator-headers"]
    definitions.write_text(original + ADDITIONS[0])
    assert gen.main(run) == 0
    mine = here / "out/ops/extra_mine.h"
    mine.write_text("not opgen's")
    (here / "out/ops/extra_native.h").write_text("edited by hand")
    assert (here / "out/ops/extra.h").exists()
    definitions.write_text(original)
    assert gen.main(run) == 0
    assert not (here / "out/ops/extra.h").exists()
    assert not (here / "out/ops/extra_ops.h").exists()
    assert mine.read_text() == "not opgen's"
    assert (here / "out/ops/extra_native.h").read_text() == "edited by hand"
    assert "removed" in capsys.readouterr().out.splitlines()[-1]


def test_a_dry_run_says_what_would_go(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definitions = here / "ops/native/native_functions.yaml"
    original = definitions.read_text()
    definitions.write_text(original + ADDITIONS[0])
    run = ["-s", "ops", "-d", "out", "--per-operator-headers"]
    assert gen.main(run) == 0
    definitions.write_text(original)
    before = stamps(here)
    capsys.readouterr()
    assert gen.main([*run, "--dry-run"]) == 0
    assert stamps(here) == before
    assert "would be removed" in capsys.readouterr().out


def test_runs_with_other_flags_keep_each_others_files(here: Path) -> None:
    kinds = ("headers", "sources", "declarations_yaml")
    for kind in kinds:
        assert gen.main(["-s", "ops", "-d", "out", "--generate", kind]) == 0
    assert gen.main(["-s", "ops", "-d", "all"]) == 0
    assert tree(here / "out") == tree(here / "all")
    for kind in kinds:
        assert gen.main(["-s", "ops", "-d", "out", "--generate", kind]) == 0
    assert tree(here / "out") == tree(here / "all")


@pytest.mark.usefixtures("forking")
def test_the_number_of_processes_leaves_no_trace(here: Path) -> None:
    for jobs in ("1", "2", "4", "16"):
        assert gen.main(["-s", "ops", "-d", f"out{jobs}", "--per-operator-headers", "--jobs", jobs]) == 0
    assert tree(here / "out1") == tree(here / "out2") == tree(here / "out4") == tree(here / "out16")


def test_few_operators_take_one_process(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """More would take longer."""
    monkeypatch.delattr("os.fork")
    for jobs in ("1", "4"):
        assert gen.main(["-s", "ops", "-d", "out", "--jobs", jobs]) == 0


@pytest.mark.usefixtures("forking")
def test_mistakes_are_the_same_whoever_finds_them(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("Functions.h", "RegisterSchema.cpp", "Operators.cpp"):
        (here / "ops/templates" / name).write_text("$nothing_of_this_name\n")
    said = []
    for jobs in ("1", "3"):
        assert gen.main(["-s", "ops", "-d", "out", "--jobs", jobs]) == 1
        said.append(capsys.readouterr().err)
        assert not (here / "out").exists()
    assert said[0] == said[1]
    assert said[0].count("unknown variable 'nothing_of_this_name'") == 3
