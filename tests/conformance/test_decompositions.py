"""The decompositions that we write, beside those that the installed torch was built with.

Torch's generator of them isn't installed with it. But what it wrote is in torch's library, so that a program with
ours compiled into it can compare the two.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Final

import pytest

from opgen import decompositions
from opgen.commands.decompositions import TABLE
from opgen.dest.jit_decompositions import LONGEST_LITERAL, Decomposition, emit_decompositions, raw_literals
from opgen.output.template import TemplateSet

NAME: Final = "decomposition_registry_util.cpp"

PROGRAM: Final = """
#include <torch/csrc/jit/runtime/decomposition_registry_util.h>
#include <cstdio>
#include <map>

// What follows is generated, under other names than torch's.
#define GetSerializedDecompositions GeneratedDecompositions
#define GetDecompositionMapping GeneratedMapping
namespace torch::jit {
const std::string& GeneratedDecompositions();
const OperatorMap<std::string>& GeneratedMapping();
} // namespace torch::jit
#include "decomposition_registry_util.cpp"
#undef GetSerializedDecompositions
#undef GetDecompositionMapping

static std::map<std::string, std::string> entries(const torch::jit::OperatorMap<std::string>& mapping) {
  std::map<std::string, std::string> found;
  for (const auto& [op, function] : mapping.getAllKeysAndValues()) {
    found[c10::toString(op->schema())] = function;
  }
  return found;
}

int main() {
  using namespace torch::jit;
  if (GeneratedDecompositions() != GetSerializedDecompositions()) {
    std::puts("other functions");
    return 1;
  }
  const auto generated = entries(GeneratedMapping());
  std::printf("%zu operators\\n", generated.size());
  return generated.empty() || generated != entries(GetDecompositionMapping());
}
"""


@pytest.fixture(scope="module")
def templates(repository: Path) -> TemplateSet:
    """opgen's own."""
    return TemplateSet(repository / "templates" / "decompositions")


def test_what_torch_was_built_with(tmp_path: Path) -> None:
    compiler, spec = shutil.which(os.environ.get("CXX", "g++")), find_spec("torch")
    if compiler is None or spec is None or not spec.submodule_search_locations:
        pytest.fail("needs torch and a C++20 compiler: g++, or the one that CXX names", pytrace=False)
    assert decompositions.main(["--quiet", "--install-dir", str(tmp_path)]) == 0
    source, program = tmp_path / "compare.cpp", tmp_path / "compare"
    source.write_text(PROGRAM, encoding="utf-8")
    torch = Path(spec.submodule_search_locations[0])
    libraries = (f"-L{torch / 'lib'}", f"-Wl,-rpath,{torch / 'lib'}", "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10")
    command = [compiler, "-std=c++20", "-w", f"-I{torch / 'include'}", str(source), "-o", str(program), *libraries]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.fail(done.stderr[:4000], pytrace=False)
    done = subprocess.run([str(program)], capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "operators" in done.stdout


def test_a_function_that_serves_two_operators_is_there_once(templates: TemplateSet) -> None:
    source = "def f(x: Tensor) -> Tensor:\n  return x\n"
    both = [
        Decomposition('aten::f(Tensor x, str s="a") -> Tensor', "f", source),
        Decomposition("aten::g() -> ()", "f", source),
    ]
    (file,) = emit_decompositions(both, templates)
    assert file.path == NAME
    assert file.text.count("def f(") == 1
    assert '{"aten::f(Tensor x, str s=\\"a\\") -> Tensor", "f"},\n' in file.text
    assert '{"aten::g() -> ()", "f"},\n' in file.text


def test_an_empty_table(templates: TemplateSet) -> None:
    (file,) = emit_decompositions([], templates)
    assert 'decompositions = R"()";' in file.text


def test_long_text_is_split_at_lines() -> None:
    text = "x = 1  \n" * 3000 + "y" * (2 * LONGEST_LITERAL) + ')"\n'
    pieces = list(raw_literals(text))
    assert len(pieces) > 4
    bodies = [piece.removeprefix('R"D0(').removesuffix(')D0"') for piece in pieces]
    assert "".join(bodies) == text
    assert max(map(len, bodies)) <= LONGEST_LITERAL


def test_a_dry_run_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = ModuleType(TABLE)
    table.decomposition_table = {"aten::f() -> ()": SimpleNamespace(name="f", code="def f():\n  pass\n")}  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, TABLE, table)
    assert decompositions.main(["--install-dir", str(tmp_path / "out"), "--dry-run", "--verbose"]) == 0
    assert "would write" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


def test_without_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, TABLE, None)
    assert decompositions.main(["--install-dir", str(tmp_path / "out")]) == 1
    assert "opgen decompositions needs an installed torch" in capsys.readouterr().err
