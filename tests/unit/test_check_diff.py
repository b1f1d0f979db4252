"""`opgen check` and `opgen diff`: what they say, how they end, and that they touch nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from expecttest import assert_expected_inline

from opgen import __main__ as command
from opgen.desk.changes import compare_operators
from opgen.desk.facts import facts_of
from tests.unit.tiny_programs import program_of

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
    flags = [*FLAGS, "--generate", "sources"]
    assert command.main(["diff", "ops", "new.yaml", *flags, "--exit-code"]) == 1
    assert_expected_inline(
        capsys.readouterr().out,
        """\
aten::extra: added
  + schema: extra(Tensor self) -> Tensor
  + C++: at::Tensor extra(const at::Tensor & self)
  + Python: def extra(input: Tensor) -> Tensor: ...
  + kernels CPU: at::native::extra_cpu
  + tags pt2_compliant_tag

5 files
  ~ Operators.cpp
  ~ RegisterCPU.cpp
  ~ RegisterFunctionalization.cpp
  ~ RegisterSchema.cpp
  ~ core/ATenOpList.cpp
""",
    )
    assert command.main(["diff", "ops", "new.yaml", *flags]) == 0
    capsys.readouterr()
    assert command.main(["diff", "new.yaml", "new.yaml", *FLAGS, "--exit-code"]) == 0
    assert capsys.readouterr() == ("", "")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def test_revisions_and_the_working_tree(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(here, "init", "-q")
    git(here, "add", "ops")
    git(here, "commit", "-qm", "one")
    append(here / "ops/native/native_functions.yaml", EXTRA)
    assert command.main(["diff", "HEAD", *FLAGS]) == 0
    assert "aten::extra: added\n" in capsys.readouterr().out
    git(here, "commit", "-qam", "two")
    assert command.main(["diff", "HEAD~1", "HEAD", *FLAGS]) == 0
    assert "aten::extra: added\n" in capsys.readouterr().out
    assert command.main(["diff", "HEAD", *FLAGS, "--exit-code"]) == 0
    assert capsys.readouterr() == ("", "")
    assert command.main(["diff", "nowhere", "HEAD", *FLAGS]) == 2
    assert "'nowhere' is not a file, folder or revision [unknown-revision]" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        command.main(["diff", "--output=x", "HEAD", *FLAGS])
    assert not (here / "x").exists()


LIBRARY = """
- func: lib::scale(Tensor self, float by=2.0) -> Tensor
  dispatch:
    CPU: scale
- func: lib::shift(Tensor self, int by) -> Tensor
- func: lib::dropped(Tensor self) -> Tensor
"""
LATER = """
- func: lib::scale(Tensor self, float? by=2.0, *, bool exact) -> Tensor
  tags: pointwise
  dispatch:
    CPU: scale_exactly
- func: lib::shift(Tensor self, SymInt by) -> Tensor
- func: lib::gained(Tensor self) -> Tensor
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder, text, formula in (("old", LIBRARY, "grad * by"), ("new", LATER, "grad * by.value_or(2)")):
        (tmp_path / folder / "native").mkdir(parents=True)
        (tmp_path / folder / "autograd").mkdir()
        (tmp_path / folder / "native/native_functions.yaml").write_text(text)
        schema = text.splitlines()[1].removeprefix("- func: lib::")
        (tmp_path / folder / "autograd/derivatives.yaml").write_text(f"- name: {schema}\n  self: {formula}\n")
    return tmp_path


def test_an_extension_is_checked(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--source-path", "old", "--install-dir", "out", "-o", "out/list.cmake", "--install-list", "out/headers"]
    assert command.main(["gen", *flags, "-q"]) == 0
    before = everything(library)
    capsys.readouterr()
    assert command.main(["check", *flags]) == 0
    assert capsys.readouterr().out == ""
    derivatives = library / "old/autograd/derivatives.yaml"
    derivatives.write_text(derivatives.read_text().replace("grad * by", "grad * by * 1"))
    append(library / "out/headers", "more.h\n")
    assert command.main(["check", *flags]) == 1
    out = capsys.readouterr().out
    assert "--- out/RegisterDerivatives.cpp (on the disk)\n" in out
    assert "-more.h\n" in out
    assert re.search(r"^2 files of \d+ would change$", out, re.MULTILINE)
    assert set(everything(library)) == set(before)


def test_an_extension_is_compared(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["diff", "old", "new"]) == 0
    out = capsys.readouterr().out
    assert_expected_inline(
        out[: out.index(" files\n")],
        """\
lib::dropped: removed, breaks callers and compiled code
  - schema: dropped(Tensor self) -> Tensor
  - C++: at::Tensor dropped(const at::Tensor & self)
  - Python: def dropped(input: Tensor) -> Tensor: ...
  - kernels CompositeImplicitAutograd: lib::native::dropped
  ! breaks callers: the operator is removed
  ! breaks compiled code: the operator is removed

lib::gained: added
  + schema: gained(Tensor self) -> Tensor
  + C++: at::Tensor gained(const at::Tensor & self)
  + Python: def gained(input: Tensor) -> Tensor: ...
  + kernels CompositeImplicitAutograd: lib::native::gained

lib::scale: changed, breaks callers and compiled code
  - schema: scale(Tensor self, float by=2.0) -> Tensor
  + schema: scale(Tensor self, float? by=2.0, *, bool exact) -> Tensor
  - C++: at::Tensor scale(const at::Tensor & self, double by=2.0)
  + C++: at::Tensor scale(const at::Tensor & self, ::std::optional<double> by, bool exact)
  - Python: def scale(input: Tensor, by: _float = 2.0) -> Tensor: ...
  + Python: def scale(input: Tensor, by: _float | None = 2.0, *, exact: _bool) -> Tensor: ...
  - kernels CPU: lib::native::scale
  + kernels CPU: lib::native::scale_exactly
  - gradients self: grad * by
  + gradients self: grad * by.value_or(2)
  + tags pointwise
  ! breaks callers: the new argument 'exact' has no default
  ! breaks compiled code: 'at::Tensor scale(const at::Tensor &, double)' no longer exists

lib::shift: changed
  - schema: shift(Tensor self, int by) -> Tensor
  + schema: shift(Tensor self, SymInt by) -> Tensor
  + C++: at::Tensor shift_symint(const at::Tensor & self, c10::SymInt by)
  - Python: def shift(input: Tensor, by: _int) -> Tensor: ...
  + Python: def shift(input: Tensor, by: _int | SymInt) -> Tensor: ...

31""",
    )


def test_reports_for_programs_and_for_reviews(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["diff", "old", "new", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    scale = next(each for each in report["operators"] if each["name"] == "lib::scale")
    assert scale["change"] == "changed"
    assert scale["breaks_callers"] == ["the new argument 'exact' has no default"]
    assert {"aspect": "tags", "name": "pointwise", "before": None, "after": ""} in scale["edits"]
    assert report["files"]["RegisterDerivatives.cpp"] == "~"
    assert command.main(["diff", "old", "new", "--format", "markdown"]) == 0
    assert "| `lib::dropped` | removed | the operator is removed | the operator is removed |" in capsys.readouterr().out


def test_what_calls_can_not_do_any_more(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "- func: lib::scale(Tensor self, float by=2.0) -> Tensor\n  dispatch:\n    CPU: scale\n    CUDA: scale_cuda\n"
    )
    (library / "old/native/native_functions.yaml").write_text(text)
    (library / "new/native/native_functions.yaml").write_text(text.replace("    CUDA: scale_cuda\n", ""))
    shutil.rmtree(library / "new/autograd")
    assert command.main(["diff", "old", "new"]) == 0
    out = capsys.readouterr().out
    assert "  ! breaks callers: there is no longer a kernel for CUDA\n" in out
    assert "  ! breaks callers: it can no longer be differentiated\n" in out
    # Other operators serve a composite one: it has all devices, and its gradient is theirs.
    (library / "new/native/native_functions.yaml").write_text(text.partition("  dispatch")[0])
    assert command.main(["diff", "old", "new"]) == 0
    assert "breaks callers" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("before", "after", "breaks"),
    [
        ("int[2]", "SymInt[2]", False),
        ("int[]", "SymInt[]", False),
        ("int[]", "SymInt[1]", False),
        ("int[2]?", "SymInt[2]?", False),
        ("int[2]", "int[]", True),
        ("int[2]", "int[3]", True),
        ("SymInt[2]", "int[2]", True),
    ],
)
def test_lists_that_accept_less(before: str, after: str, breaks: bool) -> None:
    old, new = (
        facts_of(program_of(f"- func: scale(Tensor self, {type} by) -> Tensor\n"), {}) for type in (before, after)
    )
    (change,) = compare_operators(old, new)
    assert bool(change.breaks_callers) is breaks


def test_a_file_is_compared_with_an_extension(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["diff", "old/native/native_functions.yaml", "--source-path", "old", "--exit-code"]) == 0
    append(library / "old/native/native_functions.yaml", "- func: lib::more(Tensor self) -> Tensor\n")
    shutil.copy("old/native/native_functions.yaml", "mine.yaml")
    append(library / "mine.yaml", "- func: lib::most(Tensor self) -> Tensor\n")
    assert command.main(["diff", "mine.yaml", "--source-path", "old"]) == 0
    assert capsys.readouterr().out.startswith("lib::most: removed, breaks callers and compiled code\n")
    append(library / "mine.yaml", "- func: lib::worst(Tensr self) -> Tensor\n")
    assert command.main(["diff", "mine.yaml", "--source-path", "old"]) == 2
    assert capsys.readouterr().err.startswith("mine.yaml:9:20: error: unknown type 'Tensr' [unknown-type]\n")


def test_what_new_is(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["old"], ["HEAD"]):
        assert command.main(["diff", *words]) == 2
        assert "NEW is missing [missing-file]" in capsys.readouterr().err
    # Without NEW it is what --source-path or --from-torch names.
    assert command.main(["diff", "old", "-s", "old", "--exit-code"]) == 0


def test_a_mistake_in_a_revision(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Mistakes are where git shows them, not in the temporary folder that they were read from."""
    git(library, "init", "-q")
    for text in ("Tensr self", "Tensor self"):
        path = library / "old/native/native_functions.yaml"
        path.write_text(LIBRARY.replace("Tensor self", text))
        git(library, "add", "old")
        git(library, "commit", "-qm", "now")
    for format in ("text", "json", "sarif", "github"):
        assert command.main(["diff", "HEAD~1", "--source-path", "old", "--format", format]) == 2
        printed = "".join(capsys.readouterr())
        place = "HEAD~1:old/native/native_functions.yaml"
        assert (place if format != "github" else place.replace(":", "%3A")) in printed
        assert "opgen-diff-" not in printed


# ------------------------------------------------------------------------------ operators of MLX


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab/mlx_ops.yaml").write_text(
        '- name: halve\n  signature: "array halve(const array& x)"\n  pointwise: true\n'
        "  dispatch: {cpu: halve_cpu, metal: halve_metal}\n  grad: {x: grad / 2}\n"
        '- name: twice\n  signature: "array twice(const array& x)"\n'
    )
    return tmp_path


def test_operators_of_mlx_are_checked(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--source-path", "lab", "--install-dir", "out", "--namespace", "mine"]
    assert command.main(["gen", *flags, "-q"]) == 0
    assert command.main(["check", *flags]) == 0
    assert capsys.readouterr() == ("", "")
    definitions = lab / "lab/mlx_ops.yaml"
    definitions.write_text(definitions.read_text().replace("grad / 2", "grad * 0.5f"))
    assert command.main(["check", *flags]) == 1
    out = capsys.readouterr().out
    assert out.startswith("halve: 1 place\n--- out/ops.cpp (on the disk)\n")
    definitions.write_text(definitions.read_text().replace("array& x", "aray& x", 1))
    assert command.main(["check", *flags]) == 2
    assert "did you mean 'array'?" in capsys.readouterr().err


def test_operators_of_mlx_are_listed_and_not_explained(lab: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["list", "--source-path", "lab"]) == 0
    assert capsys.readouterr().out == (
        "halve  cpu, metal  differentiable  lab/mlx_ops.yaml:1:9\n"
        "twice  composite   -               lab/mlx_ops.yaml:6:9\n"
    )
    for words in (["explain", "halve"], ["report", "pages"], ["diff", "lab"]):
        assert command.main([*words, "--source-path", "lab"]) == (2 if words[0] == "diff" else 1)
        assert "but this command handles only PyTorch operators [mlx-definitions]" in capsys.readouterr().err
    assert [path.name for path in lab.iterdir()] == ["lab"]


# ------------------------------------------------------------------------------ pre-commit


def test_the_hook_of_pre_commit(library: Path, repository: Path) -> None:
    """pre-commit installs the package and runs `entry` with the arguments of the repository that uses it."""
    (hook,) = yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text())
    assert {"id", "name", "entry", "language"} <= hook.keys()
    assert hook["language"] == "python"
    assert not hook["pass_filenames"]
    # Generated files may be changed by hand, too: the hook is not for some files only.
    assert "files" not in hook
    entry = hook["entry"].split()
    assert f"\n{entry[0]} = " in (repository / "pyproject.toml").read_text().partition("[project.scripts]")[2]
    arguments = ["--source-path", "old", "--install-dir", "out"]
    assert command.main(["gen", *arguments, "-q"]) == 0
    words = [sys.executable, "-m", *entry, *arguments]
    assert subprocess.run(words, check=False).returncode == 0
    append(library / "out/Operators.cpp", "// by hand\n")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, "-// by hand\n" in done.stdout) == (1, True)
