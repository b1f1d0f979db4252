"""The command as its user meets it: exit codes, what is said and where, and what a run leaves behind."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from opgen import __version__, gen
from opgen.commands._gen_flags import parse_request
from opgen.diagnostics import Diagnostics, UserError
from opgen.model import NativeFunction, NativeFunctionsGroup
from opgen.output.emitter import Emitter
from opgen.output.files import OutputFile
from opgen.output.manifest import NAME as MANIFEST
from opgen.program.program import Options, Program
from opgen.releases.known import describe_releases

SUMMARY = re.compile(r"[\w/. ]+: [\d,]+ files?, [\d,]+ (?:changed|would change), \d+\.\d s\n")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    """A working directory with `ops/` to generate from."""
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*flags: str) -> int:
    return gen.main(["-s", "ops", "-d", "out", *flags])


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder, apart from what opgen keeps there for itself."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != MANIFEST)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def command(*flags: str) -> list[str]:
    return [sys.executable, "-m", "opgen.gen", "-s", "ops", "-d", "out", *flags]


@pytest.fixture
def environment(repository: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(repository)}


# --------------------------------------------------------------------------- what is said


def test_one_line_says_what_was_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    first = capsys.readouterr()
    assert SUMMARY.fullmatch(first.out)
    assert first.err == ""
    count = len(tree(here / "out"))
    assert first.out.startswith(f"out: {count} files, {count} changed, ")
    assert run() == 0
    assert capsys.readouterr().out.startswith(f"out: {count} files, 0 changed, ")


def test_quiet_says_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--quiet") == 0
    assert capsys.readouterr() == ("", "")
    (here / "ops" / "native" / "native_functions.yaml").write_text("- func: a(Tenosr x) -> Tensor\n")
    assert run("--quiet") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "unknown type 'Tenosr'" in err


def test_verbose_names_what_changes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--verbose", "--generate", "declarations_yaml") == 0
    assert capsys.readouterr().out.startswith("wrote out/Declarations.yaml\nout: 1 file, 1 changed, ")
    assert run("--verbose", "--generate", "declarations_yaml") == 0
    assert SUMMARY.fullmatch(capsys.readouterr().out)


def test_quiet_and_verbose_exclude_each_other(here: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        run("--quiet", "--verbose")
    assert ended.value.code == 2


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        gen.main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr() == (f"opgen {__version__}, for {describe_releases()}\n", "")


@pytest.mark.parametrize("flags", [["--no-such-flag"], ["--sour", "ops"], ["--generate", "everything"]])
def test_wrong_flags_end_with_2(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        gen.main(flags)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def test_nothing_extra_when_piped(here: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(command(), env=environment, capture_output=True, check=True, text=True)
    assert SUMMARY.fullmatch(done.stdout)
    assert done.stderr == ""


def test_a_reader_that_leaves_early_is_no_error(here: Path, environment: dict[str, str]) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with os.fdopen(write_end, "wb") as closed:
        done = subprocess.run(command("--verbose"), env=environment, stdout=closed, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (here / "out" / "Functions.h").exists()


def test_a_terminal_that_cant_show_a_name(here: Path, environment: dict[str, str]) -> None:
    flags = ["--verbose", "-d", "oü", "--generate", "declarations_yaml"]
    environment["PYTHONIOENCODING"] = "ascii"
    done = subprocess.run(command(*flags), env=environment, capture_output=True, check=True, text=True)
    assert done.stdout.startswith("wrote o\\xfc/Declarations.yaml\n")


# --------------------------------------------------------------------------- what is left behind


def test_a_dry_run_makes_nothing(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(here.rglob("*"))
    assert run("--dry-run", "--per-operator-headers", "--aoti-install-dir", "aoti") == 0
    assert sorted(here.rglob("*")) == before
    said = capsys.readouterr()
    assert "would change" in said.out
    assert SUMMARY.fullmatch(said.out)


def test_a_run_that_fails_leaves_what_there_was(here: Path) -> None:
    assert run() == 0
    before = tree(here)
    definitions = here / "ops" / "native" / "native_functions.yaml"
    definitions.write_text(definitions.read_text() + "- func: more(Tensor self) -> Tensor\n  varients: method\n")
    before["ops/native/native_functions.yaml"] = definitions.read_bytes()
    assert run() == 1
    assert tree(here) == before


def test_a_full_disk_leaves_what_there_was(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 0
    before = tree(here / "out")
    capsys.readouterr()
    template = here / "ops" / "templates" / "RegisterSchema.cpp"
    template.write_text(template.read_text() + "// changed\n")
    (here / "ops" / "templates" / "Functions.h").write_text("// changed too\n")

    def no_space(self: object, target: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "replace", no_space)
    assert run() == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"opgen: error: can't write 'out/[\w.]+': No space left on device \[output-not-written\]\n1 error\n", err
    )
    assert tree(here / "out") == before


def test_an_interrupt_leaves_what_there_was(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--quiet") == 0
    before = tree(here / "out")
    (here / "ops" / "templates" / "Functions.h").write_text("// changed\n")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    assert run() == 130
    assert capsys.readouterr() == ("", "opgen: interrupted: no file is partly written\n")
    assert tree(here / "out") == before


def test_generating_touches_no_disk(here: Path) -> None:
    log = Diagnostics()
    request = parse_request(["-s", "ops", "-d", "out"], log)
    definitions = gen.parse_native_yaml("ops/native/native_functions.yaml", "ops/native/tags.yaml")
    assert [str(f.func.name) for f in definitions.native_functions][:2] == ["scale", "scale_"]
    assert request.options.install_dir == Path("out")
    assert not (here / "out").exists()


# --------------------------------------------------------------------------- bugs


def raises_at_a_function(program: Program, options: Options, templates: object) -> Iterator[OutputFile]:
    for function in program.functions:
        if function.root_name == "row":
            explode(function)
    yield from ()


def raises_at_a_group(program: Program, options: Options, templates: object) -> Iterator[OutputFile]:
    for group in program.grouped:
        if isinstance(group, NativeFunctionsGroup):
            raise AssertionError("a bug")
    yield from ()


def raises_at_nothing(program: Program, options: Options, templates: object) -> Iterator[OutputFile]:
    yield from ()
    raise ValueError("a bug")


def explode(function: NativeFunction) -> None:
    raise KeyError("a bug")


@pytest.mark.parametrize(
    ("emit", "first_line"),
    [
        (raises_at_a_function, "opgen: internal error at the operator 'aten::row': KeyError: 'a bug'"),
        (raises_at_a_group, "opgen: internal error at the operator 'aten::scale': AssertionError: a bug"),
        (raises_at_nothing, "opgen: internal error: ValueError: a bug"),
    ],
)
def test_a_bug_names_the_operator(
    emit: Any, first_line: str, here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("opgen.commands.gen.emitters_for", lambda options: (Emitter("buggy", emit),))
    assert run() == 70
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert lines[0] == first_line
    assert lines[1].startswith(f"This is a bug in opgen {__version__}, not in your definitions.")
    assert "Traceback" in err
    assert not (here / "out").exists()


# --------------------------------------------------------------------------- flags


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--source-path", "x"),
        ("--install-dir", "x"),
        ("--aoti-install-dir", "x"),
        ("--headeronly-install-dir", "x"),
        ("--output-dependencies", "x"),
        ("--backend-whitelist", "CPU"),
        ("--static-dispatch-backend", "CPU"),
        ("--op-registration-whitelist", "aten::add"),
        ("--op-selection-yaml-path", "x"),
        ("--dry-run", None),
        ("--per-operator-headers", None),
        ("--skip-dispatcher-op-registration", None),
        ("--force-schema-registration", None),
        ("--update-aoti-c-shim", None),
        ("--extend-aoti-c-shim", None),
    ],
)
def test_both_spellings_of_a_flag(flag: str, value: str | None) -> None:
    values = [] if value is None else [value]
    log = Diagnostics()
    request = parse_request([flag, *values], log)
    assert request == parse_request(["--" + flag[2:].replace("-", "_"), *values], log)
    assert request != parse_request([], log)


def test_short_flags() -> None:
    log = Diagnostics()
    long = parse_request(["--source-path", "a", "--install-dir", "b", "--output-dependencies", "c"], log)
    assert parse_request(["-s", "a", "-d", "b", "-o", "c"], log) == long


def test_unknown_operators_may_be_allowed(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--op-registration-whitelist", "aten::scale", "aten::__getitem__", "--generate", "declarations_yaml"]
    assert run(*flags) == 1
    capsys.readouterr()
    assert run(*flags, "--allow-unknown-operators") == 0
    assert "warning: there is no operator 'aten::__getitem__'" in capsys.readouterr().err


def test_definitions_can_be_read_from_python(here: Path) -> None:
    Path("ops.yaml").write_text("- func: a(Tenosr x) -> Tensor\n- func: b(Tensor x) -> Tensr\n")
    with pytest.raises(UserError) as caught:
        gen.parse_native_yaml("ops.yaml", Path("ops/native/tags.yaml"))
    assert [found.id for found in caught.value.diagnostics] == ["unknown-type", "unknown-type"]
    assert "did you mean 'Tensor'?" in str(caught.value)
