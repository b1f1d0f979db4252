"""`opgen check` and `opgen diff`: what they say, how they end, and that they touch nothing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from expecttest import assert_expected_inline

from opgen import __main__ as command

FLAGS = ["-s", "ops", "--per-operator-headers"]
EXTRA = "- func: extra(Tensor self) -> Tensor\n  dispatch:\n    CPU: extra_cpu\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: Path) -> Path:
    shutil.copytree(repository / "tests" / "golden" / "shared" / "ops", tmp_path / "ops")
    monkeypatch.chdir(tmp_path)
    assert command.main(["gen", *FLAGS, "-d", "out", "-q"]) == 0
    return tmp_path


def everything(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_ino) for path in folder.rglob("*")}


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def test_nothing_differs(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything(here)
    assert command.main(["check", *FLAGS, "-d", "out"]) == 0
    assert capsys.readouterr() == ("", "")
    assert everything(here) == before


def test_what_differs_is_said_by_operator(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definitions = here / "ops/native/native_functions.yaml"
    definitions.write_text(definitions.read_text().replace("CUDA: scale_out", "CUDA: scale_anew"))
    (here / "out/ops/scale.h").unlink()
    append(here / "out/core/ATenOpList.cpp", "// by hand\n")
    before = everything(here)
    assert command.main(["check", *FLAGS, "-d", "out"]) == 1
    said = capsys.readouterr().out
    assert everything(here) == before
    assert re.search(r"^all operators: \d places?\n", said, re.MULTILINE)
    assert "--- out/core/ATenOpList.cpp (on the disk)\n" in said
    assert "-// by hand\n" in said
    assert "out/ops/scale.h: isn't there\n" in said
    assert "+  void impl" not in said
    assert re.search(r"^scale: \d+ places\n", said, re.MULTILINE)
    assert said.index("scale: ") < said.index("\nall operators: ")


def test_files_that_would_go(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    definitions = here / "ops/native/native_functions.yaml"
    original = definitions.read_text()
    append(definitions, EXTRA)
    assert command.main(["gen", *FLAGS, "-d", "out", "-q"]) == 0
    definitions.write_text(original)
    assert command.main(["check", *FLAGS, "-d", "out"]) == 1
    assert "out/ops/extra_ops.h: would be removed" in capsys.readouterr().out


def test_mistakes_are_mistakes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    append(here / "ops/native/native_functions.yaml", "- func: a(Tenosr x) -> Tensor\n")
    assert command.main(["check", *FLAGS, "-d", "out"]) == 2
    assert command.main(["diff", "ops", "ops"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("unknown type 'Tenosr'") == 3


def test_two_files(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    new = here / "new.yaml"
    new.write_text((here / "ops/native/native_functions.yaml").read_text() + EXTRA)
    assert command.main(["diff", "ops", "new.yaml", *FLAGS, "--generate", "sources"]) == 1
    assert_expected_inline(
        capsys.readouterr().out,
        """\
operators
  + aten::extra
      + extra(Tensor self) -> Tensor
registrations
  + CPU extra
      + at::native::extra_cpu
files
  ~ Operators.cpp
  ~ RegisterCPU.cpp
  ~ RegisterFunctionalization.cpp
  ~ RegisterSchema.cpp
  ~ core/ATenOpList.cpp
""",
    )
    assert command.main(["diff", "new.yaml", "new.yaml", *FLAGS]) == 0
    assert capsys.readouterr() == ("", "")


def test_two_revisions(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=here, check=True, capture_output=True)

    git("init", "-q")
    git("add", "ops")
    git("commit", "-qm", "one")
    append(here / "ops/native/native_functions.yaml", EXTRA)
    git("commit", "-qam", "two")
    assert command.main(["diff", "HEAD~1", "HEAD", *FLAGS]) == 1
    assert "  + aten::extra\n" in capsys.readouterr().out
    assert command.main(["diff", "nowhere", "HEAD", *FLAGS]) == 2
    assert "'nowhere' is no file, folder or revision [unknown-revision]" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["diff", "--output=x", "HEAD", *FLAGS])
    assert not (here / "x").exists()


def test_no_command(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["gen_pyy"]):
        assert command.main(words) == 2
    assert "unknown command 'gen_pyy'\n  did you mean 'gen_pyi'?" in capsys.readouterr().err


def test_help_lists_every_command_under_a_group(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--help"]) == 0
    listed = re.findall(r"^  (\w+)  +\w", capsys.readouterr().out, re.MULTILINE)
    assert sorted(listed) == command.command_names()
