"""What build systems are told: the depfile, the stamp, the lists of outputs, the headers to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

import opgen
from opgen import gen
from opgen.diagnostics import UserError
from opgen.output.build_files import render_depfile
from opgen.output.manifest import NAME as MANIFEST

TELL = ["--stamp", "stamp", "--depfile", "stamp.d"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def names(folder: Path) -> set[str]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix() for path in files}


def dependencies(depfile: Path) -> set[str]:
    target, colon, rest = depfile.read_text().partition(":")
    assert (target, colon) == ("stamp", ":")
    return {word for word in re.split(r"\s|\\\n", rest) if word}


def test_the_depfile_has_all_that_was_read(here: Path) -> None:
    assert gen.main(["-s", "ops", "-d", "out", "--generate", "declarations_yaml", *TELL]) == 0
    found = dependencies(here / "stamp.d")
    code = {path for path in found if path.startswith(str(Path(opgen.__file__).parent))}
    assert any(path.endswith("dest/declarations.py") for path in code)
    assert {path for path in found if not os.path.isabs(path)} == {
        "ops/native/native_functions.yaml",
        "ops/native/tags.yaml",
    }
    assert gen.main(["-s", "ops", "-d", "out", "--generate", "headers", *TELL]) == 0
    assert "ops/templates/Functions.h" in dependencies(here / "stamp.d")
    assert "ops/templates/RegisterSchema.cpp" not in dependencies(here / "stamp.d")


@pytest.mark.usefixtures("forking")
def test_every_job_tells_what_it_read(here: Path) -> None:
    assert gen.main(["-s", "ops", "-d", "one", *TELL, "--jobs", "1"]) == 0
    one = dependencies(here / "stamp.d")
    assert gen.main(["-s", "ops", "-d", "two", *TELL, "--jobs", "3"]) == 0
    assert dependencies(here / "stamp.d") == one


def test_the_stamp_is_touched_in_every_run(here: Path) -> None:
    time.sleep(0.03)
    flags = ["-s", "ops", "-d", "out", *TELL]
    for _ in range(3):
        before = (here / "stamp").stat().st_mtime_ns if (here / "stamp").exists() else 0
        time.sleep(0.02)
        assert gen.main(flags) == 0
        assert (here / "stamp").stat().st_mtime_ns > before
    (here / "stamp").unlink()
    assert gen.main(flags) == 0
    assert (here / "stamp").exists()
    (here / "stamp.d").unlink()
    assert gen.main(flags) == 0
    assert dependencies(here / "stamp.d")
    os.utime(here / "stamp", (1, 1))
    (here / "ops/native/tags.yaml").write_text("- tag: [\n")
    assert gen.main(flags) == 1
    assert (here / "stamp").stat().st_mtime == 1


def test_a_depfile_needs_a_stamp(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert gen.main(["-s", "ops", "-d", "out", "--depfile", "stamp.d"]) == 1
    assert "--depfile needs --stamp" in capsys.readouterr().err


def test_paths_as_make_reads_them() -> None:
    text = render_depfile("a b", ["c$d", "e#f", "g", "h i", "j:k"])
    assert text == "a\\ b: \\\n  c$$d \\\n  e\\#f \\\n  g \\\n  h\\ i \\\n  j\\:k\n"


NAMES = ["a:b", "a b", "a#b", "a$b", "a%b", "a[b]", "~a", "-a", "a@b", "a,b", "é", "a!b", "a{b}", "a+b"]


@pytest.mark.skipif(shutil.which("ninja") is None or shutil.which("make") is None, reason="needs make and ninja")
def test_make_and_ninja_read_every_name_that_is_written(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1, 1))
    (tmp_path / "stamp.d").write_text(render_depfile("stamp", NAMES))
    (tmp_path / "Makefile").write_text("stamp:\n\t@echo made; touch stamp\n-include stamp.d\n")
    ninja = "rule r\n  command = echo made; touch stamp; cp stamp.d copy.d\n  depfile = copy.d\n  deps = gcc\n"
    (tmp_path / "build.ninja").write_text(f"{ninja}build stamp: r\n")
    for tool in ("make", "ninja"):
        (tmp_path / "stamp").unlink(missing_ok=True)

        def runs(tool: str = tool) -> bool:
            done = subprocess.run([tool], cwd=tmp_path, capture_output=True, text=True, check=True)
            return "\nmade" in f"\n{done.stdout}"

        assert [runs(), runs()] == [True, False]
        for name in NAMES:
            newer = (tmp_path / "stamp").stat().st_mtime + 1
            os.utime(tmp_path / name, (newer, newer))
            assert runs(), (tool, name)
            os.utime(tmp_path / name, (1, 1))


@pytest.mark.parametrize("character", list(";|\t\n*?=&\\'\"()<>^`\r\0"))
def test_names_that_make_or_ninja_cannot_read_are_reported(character: str) -> None:
    with pytest.raises(UserError, match="depfile can't name"):
        render_depfile("stamp", ["ops.yaml", f"a{character}b"])


FLAGS: tuple[list[str], ...] = (
    [],
    ["--per-operator-headers"],
    ["--generate", "headers"],
    ["--generate", "sources"],
    ["--mps", "--xpu", "--mtia", "--rocm"],
    ["--backend-whitelist", "CPU"],
    ["--static-dispatch-backend", "CPU", "--per-operator-headers"],
    ["--op-registration-whitelist", "aten::scale"],
    ["--aoti-install-dir", "aoti", "--update-aoti-c-shim"],
)
UNLISTED = re.compile(r"(?:.*Everything\.\w+|c_shim_\w+\.(?:h|cpp)|core/enum_tag\.h)\Z")


@pytest.mark.parametrize("flags", FLAGS, ids=" ".join)
def test_declared_outputs_are_those_written(here: Path, flags: list[str]) -> None:
    """A dry run declares exactly what a run writes, apart from what no list names."""
    run = ["-s", "ops", "-d", "out", "-o", "lists/all.cmake", *flags]
    (here / "lists").mkdir()
    assert gen.main([*run, "--dry-run"]) == 0
    lists = {path.name: path.read_text() for path in (here / "lists").iterdir()}
    declared = {path for text in lists.values() for path in re.findall(r'"([^"]+)"', text)}
    assert not (here / "out").exists()
    assert gen.main(run) == 0
    assert {path.name: path.read_text() for path in (here / "lists").iterdir()} == lists
    written = {f"out/{name}" for name in names(here / "out") if not UNLISTED.match(name)}
    assert declared == written


def test_headers_to_install(here: Path) -> None:
    assert gen.main(["-s", "ops", "-d", "out", "--per-operator-headers", "--install-list", "headers.txt"]) == 0
    listed = (here / "headers.txt").read_text().splitlines()
    assert listed == sorted(name for name in names(here / "out") if name.endswith(".h") and name != "core/enum_tag.h")


NINJA = """\
rule opgen
  command = {python} -m opgen.gen -s ops -d out -q --stamp $out --depfile $out.d
  depfile = $out.d
  restat = 1
rule use
  command = cat out/Functions.h > $out
build stamp: opgen
build used: use out/Functions.h || stamp
default stamp used
"""


@pytest.mark.skipif(shutil.which("ninja") is None, reason="ninja isn't installed")
def test_ninja_does_the_least(here: Path, repository: Path) -> None:
    (here / "build.ninja").write_text(NINJA.format(python=sys.executable))

    def ninja() -> str:
        environment = {**os.environ, "PYTHONPATH": str(repository)}
        time.sleep(0.05)
        return subprocess.run(["ninja"], env=environment, capture_output=True, text=True, check=True).stdout

    assert gen.main(["-s", "ops", "-d", "out", "-q"]) == 0
    ninja()
    assert "no work to do" in ninja()
    (here / "ops/native/native_functions.yaml").touch()
    assert "[1/" in ninja()
    assert "no work to do" in ninja()
    used = (here / "used").stat().st_mtime_ns
    template = here / "ops/templates/RegisterSchema.cpp"
    template.write_text(template.read_text() + "// changed\n")
    ninja()
    assert (here / "used").stat().st_mtime_ns == used
