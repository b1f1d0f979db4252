"""Inductor's patterns, traced anew, beside those that torch ships; and torch's folder, which stays as it is.

The commands of docs/other-generators.md that do so are run here.
"""

from __future__ import annotations

import ast
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest

from opgen import fuse
from opgen.dest.inductor_patterns import Pattern, emit_patterns
from opgen.installed import inductor_tracing
from opgen.output.template import TemplateSet
from tests.conformance.compare import compare_trees
from tests.conformance.runs import run_command

SHIPPED: Final = Path("_inductor", "fx_passes", "serialized_patterns")


@pytest.fixture(scope="module")
def torch_folder() -> Path:
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        pytest.fail("torch isn't installed: pip install -e '.[test]'", pytrace=False)
    return Path(spec.submodule_search_locations[0])


def _state(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Each file and folder with its size, its time and its number, apart from what Python keeps for itself."""
    found: dict[str, tuple[int, int, int]] = {}
    for path, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != "__pycache__"]
        for name in (*files, *folders):
            status = os.lstat(os.path.join(path, name))
            found[os.path.join(path, name)] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def test_patterns_are_those_that_torch_ships(torch_folder: Path, tmp_path: Path) -> None:
    """The whole set: 15 seconds. What is elsewhere stays as it is: torch's folder, the home, the temporary files."""
    before = _state(torch_folder)
    homes = {"HOME": str(tmp_path / "home"), "TMPDIR": str(tmp_path / "tmp"), "PYTHONDONTWRITEBYTECODE": "1"}
    for name in ("home", "tmp", "cwd"):
        (tmp_path / name).mkdir()
    command = [sys.executable, "-m", "opgen.fuse", "--install-dir", str(tmp_path / "out")]
    run = run_command(command, tmp_path / "cwd", homes)
    assert run.code == 0, run.err
    assert _state(torch_folder) == before
    assert [path for name in ("home", "tmp", "cwd") for path in (tmp_path / name).iterdir()] == []
    report = compare_trees(torch_folder / SHIPPED, tmp_path / "out", ["*.py"])
    assert report.compared > 30
    assert report.is_same, report.render()


def test_some_patterns(
    torch_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    out = tmp_path / "out"
    flags = ["--install-dir", str(out), "--pattern", "bmm_pattern"]
    assert fuse.main([*flags, "mm_patern"]) == 1
    assert "there is no pattern 'mm_patern' [unknown-pattern]" in capsys.readouterr().err
    assert not out.exists()
    matcher: Any = sys.modules[inductor_tracing.MATCHER]
    assert matcher.gen_register_replacement.__module__ == inductor_tracing.MATCHER
    assert "TORCHINDUCTOR_CACHE_DIR" not in os.environ
    assert fuse.main([*flags, "--quiet"]) == 0
    assert sorted(path.name for path in out.glob("*.py")) == ["__init__.py", "bmm_pattern.py"]
    shipped = (torch_folder / SHIPPED / "bmm_pattern.py").read_text(encoding="utf-8")
    ours = (out / "bmm_pattern.py").read_text(encoding="utf-8")
    assert ast.dump(ast.parse(ours)) == ast.dump(ast.parse(shipped))


def test_modules_of_patterns(repository: Path) -> None:
    templates = TemplateSet(repository / "templates" / "fuse")
    patterns = [
        Pattern("f", "f_training", "f_training = A()\n"),
        Pattern("g", "g", "g = B()"),
        Pattern("f", "f_x", "f_x = B()"),
    ]
    files = {file.path: file.text for file in emit_patterns(patterns, ["_C", "B", "A"], templates)}
    assert sorted(files) == ["__init__.py", "f.py", "g.py"]
    assert "    A,\n    B,\n    _C,\n)\n\nf_training = A()\n\n\nf_x = B()\n" in files["f.py"]


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "torch", ModuleType("torch"))
    monkeypatch.setitem(sys.modules, inductor_tracing.MATCHER, None)
    assert fuse.main(["--install-dir", str(tmp_path / "out")]) == 1
    said = capsys.readouterr().err
    assert "opgen fuse needs an installed torch, and torch._inductor.pattern_matcher can't be imported" in said
    assert not (tmp_path / "out").exists()
