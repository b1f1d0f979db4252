"""Programs written against torchgen give the same answers and files on opgen.

Each program of `programs/` runs twice in a process of its own: with the installed torchgen, and with
`opgen.as_torchgen` in its place.  Answers are compared as they are; texts of C++ and Python as tokens.

The commands of docs/library.md that do so are run here.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import opgen.as_torchgen
from tests.conformance.compare import compare_trees
from tests.conformance.tokens import compare_texts
from tests.sharing import Share

HERE: Final = Path(__file__).resolve().parent
REPOSITORY: Final = HERE.parents[1]
ASKING: Final = ("ask_model", "ask_api", "ask_gen")
GENERATING: Final = ("mobile_runtime", "lazy_backend", "device_backend")
REFUSED: Final = "refused"
"""What a program says of an operator that torchgen has nothing for; opgen may have something."""

RUN: Final = """
import importlib, json, os, pathlib, sys
kind, target, source, alias = sys.argv[1:]
sys.path.insert(0, os.getcwd())
os.chdir(target)  # folders that files name are relative
if alias == "opgen":
    import opgen.as_torchgen
    opgen.as_torchgen.install()
paths = [f"{source}/native/native_functions.yaml", f"{source}/native/tags.yaml"]
for name in kind.split(","):
    program = importlib.import_module(f"tests.as_torchgen.programs.{name}")
    if name.startswith("ask"):
        found = program.answers(*paths)
        pathlib.Path(f"{name}.json").write_text(json.dumps(found, default=str), encoding="utf-8")
    else:
        program.answers(*paths, pathlib.Path(name, "out"))
"""


def _run(target: Path, source: Path, alias: str, names: tuple[str, ...]) -> None:
    for name in names:
        (target / name).mkdir(parents=True)
    command = [sys.executable, "-c", RUN, ",".join(names), str(target), str(source), alias]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        pytest.fail(f"{alias}: {', '.join(names)}\n{done.stdout}{done.stderr}", pytrace=False)


@pytest.fixture(scope="module")
def runs(share: Share, torch_source: Path) -> Path:
    """A folder with what all programs made, with torchgen and with opgen."""

    def make(folder: Path) -> None:
        for alias in ("torchgen", "opgen"):
            _run(folder / alias, torch_source, alias, (*ASKING, *GENERATING))

    return share.folder("as-torchgen", make)


def _differences(where: str, theirs: Any, ours: Any) -> Iterator[str]:
    if theirs in (REFUSED, [REFUSED]) or theirs == ours:
        return
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for name in sorted(theirs.keys() | ours.keys()):
            yield from _differences(f"{where}/{name}", theirs.get(name), ours.get(name))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for at, pair in enumerate(zip(theirs, ours, strict=True)):
            yield from _differences(f"{where}/{at}", *pair)
    elif not (isinstance(theirs, str) and isinstance(ours, str) and _mean_the_same(theirs, ours)):
        yield f"{where}\n  torchgen: {theirs}\n  opgen:    {ours}"


def _mean_the_same(theirs: str, ours: str) -> bool:
    is_python = theirs.startswith("class ") and "def __new__(" in theirs
    return compare_texts("a.py" if is_python else "a.cpp", theirs, ours) is None


CORRECTED: Final = "ask_gen/derived/outs/_flash_attention_forward_no_dropout_inplace"
"""The schema in which torchgen names two arguments `out` (docs/differences.md)."""


@pytest.mark.parametrize("name", ASKING)
def test_answers_are_torchgens(name: str, runs: Path) -> None:
    theirs, ours = (json.loads((runs / by / f"{name}.json").read_text("utf-8")) for by in ("torchgen", "opgen"))
    assert len(json.dumps(theirs)) > 1_000_000
    found = list(_differences(name, theirs, ours))
    corrected = [each for each in found if each.startswith(CORRECTED)]
    assert len(corrected) == (name == "ask_gen")
    others = [each for each in found if each not in corrected]
    assert others[:3] == [], f"{len(others)} differences"


@pytest.mark.parametrize("name", GENERATING)
def test_files_are_torchgens(name: str, runs: Path) -> None:
    theirs, ours = (runs / by / name / "out" for by in ("torchgen", "opgen"))
    report = compare_trees(theirs, ours)
    assert report.is_same, report.render()
    assert report.compared >= 3


# ------------------------------------------------------------------------------- the names


def _used(path: Path) -> set[str]:
    """The names of torchgen's modules that a program imports, or reaches through what it imports."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    meanings: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("torchgen"):
            meanings.update({each.asname or each.name: f"{node.module}.{each.name}" for each in node.names})
        elif isinstance(node, ast.Import):
            for each in node.names:
                if each.name.startswith("torchgen"):
                    meanings[each.asname or "torchgen"] = each.name if each.asname else "torchgen"
    used = set(meanings.values())
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            chain, inner = [node.attr], node.value
            while isinstance(inner, ast.Attribute):
                chain.insert(0, inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in meanings:
                used.add(".".join([meanings[inner.id], *chain]))
    return used


def test_programs_use_every_name() -> None:
    used: set[str] = set()
    for path in (HERE / "programs").glob("*.py"):
        used |= _used(path)
    lines = (HERE / "names.tsv").read_text(encoding="utf-8").splitlines()
    names = [".".join(line.split("\t")) for line in lines]
    assert len(names) > 200
    assert sorted(name for name in names if name not in used) == []


# -------------------------------------------------------------------------------- install()


@pytest.fixture
def alias() -> Iterator[None]:
    opgen.as_torchgen.install()
    yield
    opgen.as_torchgen.uninstall()


def test_the_alias_hides_torchgen_and_can_be_undone() -> None:
    before = __import__("torchgen.model").model
    opgen.as_torchgen.install()
    opgen.as_torchgen.install()
    try:
        assert opgen.as_torchgen.installed()
        hidden = __import__("torchgen.model").model
        assert hidden.__name__ == "opgen.as_torchgen.model"
        assert hidden.__spec__.name == "opgen.as_torchgen.model"
        root = Path(sys.modules["torchgen"].__file__ or "").parent
        assert (root / "packaged/ATen/native/native_functions.yaml").is_file()
    finally:
        opgen.as_torchgen.uninstall()
    assert not opgen.as_torchgen.installed()
    assert sys.modules["torchgen.model"] is before


@pytest.mark.parametrize("name", ["torchgen.api.autograd", "torchgen.finder", "torchgen.nothing"])
def test_what_opgen_lacks_is_not_imported(name: str, alias: None) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"opgen doesn't provide '{name}'"):
        __import__(name)


def test_mistakes_are_assertions_with_opgens_message(alias: None) -> None:
    gen = __import__("torchgen.gen").gen
    entries = [{"func": "f(Tensr self) -> Tensor"}, {"func": "g(Tensor self) -> Tensor", "variant": "method"}]
    with pytest.raises(AssertionError, match=r"(?s)<stdin>:1:\d+: error: unknown type 'Tensr'.*unknown.*'variant'"):
        gen.parse_native_yaml_struct(entries, set())


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, encoding="utf-8", check=False)


def test_a_program_runs_with_the_alias(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    (tmp_path / "beside.py").write_text("WORD = 'beside'\n", encoding="utf-8")
    text = "import sys, torchgen.model as m, beside\nprint(m.__name__, __name__, sys.argv[1:], beside.WORD)\n"
    program.write_text(text, encoding="utf-8")
    done = _python("-m", "opgen.as_torchgen", str(program), "--a", "b")
    assert done.stdout == "opgen.as_torchgen.model __main__ ['--a', 'b'] beside\n", done.stderr
    done = _python("-m", "opgen.as_torchgen", "-m", "torchgen.gen", "--help")
    assert done.returncode == 0
    assert "usage: opgen" in done.stdout
    assert _python("-m", "opgen.as_torchgen").returncode == 2
    assert "there is no program 'no.py'" in _python("-m", "opgen.as_torchgen", "no.py").stderr


TORCH: Final = """
import opgen.as_torchgen
opgen.as_torchgen.install()
import torch

@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor, by: float, dims: list[int]) -> torch.Tensor:
    return x * by

@scale.register_fake
def _(x, by, dims):
    return torch.empty_like(x)

def f(x):
    return scale(x, 2.0, [0]) + 1

x = torch.arange(3.0)
assert torch.equal(torch.compile(f, backend="aot_eager")(x), f(x))
import torchgen.model
assert torchgen.model.__name__ == "opgen.as_torchgen.model"
print(scale._opoverload._schema)
"""


def test_torch_works_with_the_alias() -> None:
    done = _python("-c", TORCH)
    assert done.stdout.strip() == "mine::scale(Tensor x, float by, SymInt[] dims) -> Tensor", done.stderr
