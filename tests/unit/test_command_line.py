"""The command line: its help, what it says about mistakes and results, and its completion."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from expecttest import assert_expected_inline
from jsonschema import Draft7Validator

from opgen import __main__ as command
from opgen.commands._all import command_names, load_commands

DEFINITIONS = "- func: lib::twice(Tensor self) -> Tensor\n"


@pytest.fixture(autouse=True)
def ops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "ops" / "native" / "native_functions.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(DEFINITIONS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def usage_mistake(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a wrong command line prints."""
    try:
        code = command.main(words)
    except SystemExit as end:
        code = int(end.code or 0)
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert len(printed.err.splitlines()) == 2
    return printed.err


# ------------------------------------------------------------------------------ help


def test_help_lists_every_command_under_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert sorted(re.findall(r"^  (\w+)  +\w", text, re.MULTILINE)) == command_names()
    assert re.findall(r"^(for .*):$", text, re.MULTILINE) == [
        "for authors of operators",
        "for authors of backends",
        "for reviews and CI",
        "for builds of torch",
        "for runtimes, compilers and small builds",
        "for your shell",
    ]
    # One line each.
    assert all(len(line) <= 120 for line in text.splitlines())


@pytest.mark.parametrize("name", command_names())
def test_help_of_a_command_names_it_and_says_what_it_produces(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        command.main([name, "--help"])
    assert end.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith(f"usage: opgen {name} ")
    [found] = load_commands([name])
    assert " ".join(found.produces.split()) in text
    assert re.match(r"(Prints?|Writes?|Imports torch and writes|Speaks) ", found.produces)


# ------------------------------------------------------------------------------ mistakes


def test_a_wrong_command_or_flag(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        ("explane",),
        (),
        ("gen", "--sorce-path", "ops"),
        # What is missing because of a misspelt flag is not reported before that.
        ("gen_mlx", "--instal-dir=out"),
        ("check", "--format", "jsn"),
        ("schema", "native"),
        ("select", "megre"),
        ("select", "merge", "--outptu", "x"),
        ("autoheuristic", "show", "--outputdir", "x"),
        ("gen", "ops"),
        ("new",),
        ("gen", "-j", "none"),
        ("completion", "fish"),
    ]
    assert_expected_inline(
        "".join(usage_mistake(capsys, *words) for words in lines),
        """\
opgen: error: unknown command 'explane'
  did you mean 'explain'?  'opgen --help' lists the commands
opgen: error: a command is missing
  'opgen --help' lists the commands
opgen gen: error: unknown flag '--sorce-path'
  did you mean '--source-path'?  'opgen gen --help' lists the flags
opgen gen_mlx: error: unknown flag '--instal-dir'
  did you mean '--install-dir'?  'opgen gen_mlx --help' lists the flags
opgen check: error: --format can't be 'jsn'
  did you mean 'json'?  'opgen check --help' lists the flags
opgen schema: error: kind can't be 'native'
  expected one of: native_functions, derivatives, tags, backend, selection, mlx  'opgen schema --help' lists the flags
opgen select: error: COMMAND can't be 'megre'
  did you mean 'merge'?  'opgen select --help' lists the flags
opgen select merge: error: unknown flag '--outptu'
  did you mean '--output'?  'opgen select merge --help' lists the flags
opgen autoheuristic show: error: unknown flag '--outputdir'
  did you mean '--output-dir'?  'opgen autoheuristic show --help' lists the flags
opgen gen: error: unexpected argument 'ops'
  'opgen gen --help' lists the flags
opgen new: error: the following arguments are required: NAME
  'opgen new --help' lists the flags
opgen gen: error: argument -j/--jobs: 'none' is not a number of processes
  'opgen gen --help' lists the flags
opgen completion: error: SHELL can't be 'fish'
  expected one of: bash, zsh, tcsh  'opgen completion --help' lists the flags
""",
    )


@pytest.mark.parametrize("name", command_names())
def test_a_misspelt_flag_of_any_command(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert usage_mistake(capsys, name, "--hlep") == (
        f"opgen {name}: error: unknown flag '--hlep'\n  did you mean '--help'?  'opgen {name} --help' lists the flags\n"
    )


@pytest.mark.parametrize(
    ("given", "meant"),
    [("opss", "ops"), ("ops/native", "ops"), ("ops/nativ", "ops"), (".", "ops"), ("opss/native", "ops")],
)
def test_a_misspelt_folder_gets_the_nearest_one(given: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("gen", "list", "schema"):
        assert command.main([name, "--source-path", given]) == (0 if name == "schema" and Path(given).is_dir() else 1)
        err = capsys.readouterr().err
        if name != "schema" or not Path(given).is_dir():  # a folder without tags has those of torch
            assert f"\n  did you mean '{meant}'?  --source-path names the folder of native/" in err


def test_a_folder_above_definitions_of_mlx(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ops / "lab" / "ops").mkdir(parents=True)
    (ops / "lab" / "ops" / "mlx_ops.yaml").write_text("[]\n")
    assert command.main(["gen", "--source-path", "lab"]) == 1
    assert "\n  did you mean 'lab/ops'?  --source-path names" in capsys.readouterr().err
    assert command.main(["gen_mlx", "--source-path", "lab", "--install-dir", "out"]) == 1
    assert "\n  did you mean 'lab/ops" in capsys.readouterr().err


def test_a_misspelt_file_gets_the_nearest_one(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["gen_pyi", "ops/native/native_function.yaml", "tags.yaml", "out", "autograd"]
    assert command.main(words) == 1
    assert "\n  did you mean 'ops/native/native_functions.yaml'?\n" in capsys.readouterr().err


# ------------------------------------------------------------------------------ the last line


def last_line(text: str) -> str:
    return re.sub(r"[\d.]+ s$", "N s", text.splitlines()[-1])


def test_the_last_line_says_what_was_written_where(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["gen", "--source-path", "ops", "--install-dir", "out/lib"]
    assert command.main(words) == 0
    first = capsys.readouterr().out
    assert re.fullmatch(r"out/lib: (\d+) files, \1 changed, N s", last_line(first))
    # The run that finds nothing to do says it too.
    assert command.main(words) == 0
    assert last_line(capsys.readouterr().out) == re.sub(r"\d+ changed", "0 changed", last_line(first))


def on_a_terminal(*words: str) -> list[str]:
    """What a run shows on a terminal, line by line."""
    ours, theirs = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "opgen", *words], stdout=theirs, stderr=subprocess.DEVNULL):
        os.close(theirs)
        text = b""
        try:
            while part := os.read(ours, 65536):
                text += part
        except OSError:
            pass  # the other end is closed
    os.close(ours)
    return text.decode().splitlines()


def test_a_terminal_is_told_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert on_a_terminal("new", "mylib")[-1] == (
        "next: cd mylib && pip install --no-build-isolation . && python -m pytest"
    )
    generate = ["gen", "--source-path", "ops", "--install-dir", "out"]
    assert on_a_terminal(*generate)[-1].startswith("next: compile the sources with your kernels")
    # Nothing is new, so there is nothing to do.
    assert "0 changed" in on_a_terminal(*generate)[-1]
    (Path("out") / "Operators.cpp").unlink()
    check = on_a_terminal("check", *generate[1:])
    assert check[-1] == "next: 'opgen gen' with the same flags writes them"
    assert on_a_terminal("report", "pages", "--source-path", "ops")[-1] == "next: open pages/index.html in a browser"


def test_a_new_project_tells_editors_about_its_yaml(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first line of each YAML file names the JSON Schema that `opgen schema` prints, beside it."""
    for name, flags in (("plain", ()), ("stable", ("--stable-abi",)), ("lab", ("--mlx",))):
        assert command.main(["new", name, *flags]) == 0
        files = sorted((ops / name / "ops").rglob("*.yaml"))
        assert files
        for path in files:
            first = path.read_text().splitlines()[0]
            schema = path.parent / first.removeprefix("# yaml-language-server: $schema=")
            validator = Draft7Validator(json.loads(schema.read_text()))
            assert not list(validator.iter_errors(yaml.safe_load(path.read_text())))
        for schema in (ops / name / "ops" / "schemas").iterdir():
            capsys.readouterr()
            assert command.main(["schema", schema.stem]) == 0
            assert capsys.readouterr().out == schema.read_text()
        assert "build/" in (ops / name / ".gitignore").read_text().splitlines()


def test_a_project_may_be_called_as_one_of_its_templates(ops: Path) -> None:
    assert command.main(["new", "gitignore"]) == 0
    assert (ops / "gitignore" / "tests" / "test_gitignore.py").is_file()
    assert (ops / "gitignore" / ".gitignore").is_file()


# ------------------------------------------------------------------------------ completion


@pytest.fixture(scope="module")
def bash_script() -> str:
    done = subprocess.run(
        [sys.executable, "-m", "opgen", "completion", "bash"], capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["ex"], {"explain"}),
        (["gen_p"], {"gen_pyi", "gen_python"}),
        (["gen", "--source"], {"--source-path", "--source_path"}),
        (["gen", "--format", "s"], {"sarif"}),
        (["gen", "--source-path", "op"], {"ops"}),
        (["schema", "t"], {"tags"}),
        (["completion", "z"], {"zsh"}),
    ],
)
def test_bash_completes(words: list[str], expected: set[str], bash_script: str) -> None:
    line = " ".join(f"'{word}'" for word in ("opgen", *words))
    ask = f"COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_opgen; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{bash_script}\n{ask}"], capture_output=True, text=True, check=False
    )
    assert set(done.stdout.split()) == expected, done.stderr


@pytest.mark.parametrize(("shell", "mark"), [("zsh", "#compdef opgen"), ("tcsh", "complete opgen")])
def test_other_shells_have_scripts(shell: str, mark: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert mark in text
    assert all(name in text for name in command_names())


def test_completion_without_shtab(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert command.main(["completion", "bash"]) == 1
    assert "completion needs shtab [shtab-missing]\n  pip install 'opgen[completion]'\n" in capsys.readouterr().err
