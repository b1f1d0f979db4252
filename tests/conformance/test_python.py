"""torchgen and opgen side by side on torch's own definitions: bindings, annotated arguments, and tracing.

A file is the same if it has the same tokens; Python is compared as a syntax tree.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from opgen.output.manifest import NAME as MANIFEST
from tests.conformance.compare import compare_trees
from tests.conformance.runs import run_command

ORACLE: Final = """
import gc, sys
from pathlib import Path
from torchgen.packaged.autograd import gen_annotated_fn_args, gen_autograd

gc.disable()
functions, tags, autograd = sys.argv[1:4]
for name in ("bindings", "annotated"):
    Path(name).mkdir()
gen_autograd.gen_autograd_python(functions, tags, "bindings", autograd)
gen_annotated_fn_args.gen_annotated(functions, tags, "annotated", autograd)
"""
"""Writes what torchgen makes into folders below the working directory."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What both generators read, as their arguments."""

    functions: Path
    tags: Path
    autograd: Path

    def command(self, module: str, out: Path) -> list[str]:
        """The command line of one of our generators."""
        paths = (self.functions, self.tags, out, self.autograd)
        return [sys.executable, "-m", module, *map(str, paths)]


@pytest.fixture(scope="module")
def inputs(torch_source: Path) -> Inputs:
    native = torch_source / "native"
    return Inputs(native / "native_functions.yaml", native / "tags.yaml", torch_source.parent / "autograd")


@pytest.fixture(scope="module")
def oracle(inputs: Inputs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folders of what torchgen makes."""
    root = tmp_path_factory.mktemp("torchgen")
    arguments = map(str, (inputs.functions, inputs.tags, inputs.autograd))
    run = run_command([sys.executable, "-c", ORACLE, *arguments], root)
    assert run.code == 0, run.err
    return root


def _generated(inputs: Inputs, module: str, out: Path, seed: str = "0") -> Path:
    out.mkdir(parents=True)
    run = run_command(inputs.command(module, out), out.parent, {"PYTHONHASHSEED": seed})
    if run.code != 0 or "Traceback" in run.err:
        pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)
    return out


@pytest.mark.parametrize(
    ("module", "folder"), [("opgen.gen_python", "bindings"), ("opgen.gen_annotated_fn_args", "annotated")]
)
def test_writes_what_torchgen_writes(module: str, folder: str, inputs: Inputs, oracle: Path, tmp_path: Path) -> None:
    report = compare_trees(oracle / folder, _generated(inputs, module, tmp_path / "out"))
    assert report.compared > 0
    if not report.is_same:
        pytest.fail(report.render(show=5)[:4000], pytrace=False)


@pytest.mark.parametrize("module", ["opgen.gen_python", "opgen.gen_annotated_fn_args", "opgen.gen_pyi"])
def test_the_same_for_every_hash_seed(module: str, inputs: Inputs, tmp_path: Path) -> None:
    first, second = (_generated(inputs, module, tmp_path / seed, seed) for seed in ("1", "2"))
    for folder in (first, second):
        (folder / MANIFEST).unlink()  # it has the times of files
    names = sorted(path.relative_to(first) for path in first.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(second) for path in second.rglob("*") if path.is_file())
    assert [name for name in names if (first / name).read_bytes() != (second / name).read_bytes()] == []
