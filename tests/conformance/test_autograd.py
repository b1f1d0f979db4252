"""The autograd generator and torch's own side by side: the same files, the same tokens.

torch's generator keeps derivatives in a cache of the process, to which it adds those of the operators on lists
that it came by; so each of its runs gets a process of its own.  It also leaves a template that it made in the
output folder, which nobody needs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from opgen.gen_autograd import gen_autograd, main
from opgen.selective_build.selector import SelectiveBuilder
from tests.conformance.compare import compare_trees
from tests.conformance.runs import run_command

TRAINED: Final = """
include_all_operators: false
operators:
  aten::add.Tensor: {is_root_operator: true, is_used_for_training: true, include_all_overloads: false}
  aten::abs: {is_root_operator: true, is_used_for_training: true, include_all_overloads: true}
  aten::convolution: {is_root_operator: false, is_used_for_training: true, include_all_overloads: false}
  aten::sum.dim_IntList: {is_root_operator: true, is_used_for_training: true, include_all_overloads: false}
  aten::_foreach_add.List: {is_root_operator: true, is_used_for_training: true, include_all_overloads: false}
  aten::_foreach_abs_: {is_root_operator: true, is_used_for_training: true, include_all_overloads: false}
  aten::squeeze_.dim: {is_root_operator: true, is_used_for_training: true, include_all_overloads: false}
  aten::split.Tensor: {is_root_operator: true, is_used_for_training: true, include_all_overloads: false}
  aten::empty.memory_format: {is_root_operator: true, is_used_for_training: false, include_all_overloads: false}
"""
"""A build that trains a few operators: views, operators on lists, one without overloads, one for inference only."""

ORACLE: Final = """
import gc, sys
from torchgen.packaged.autograd.gen_autograd import gen_autograd
from torchgen.selective_build.selector import SelectiveBuilder
gc.disable()
kind, selection, *paths = sys.argv[1:]
selector = SelectiveBuilder.from_yaml_str(selection) if selection else SelectiveBuilder.get_nop_selector()
gen_autograd(*paths, selector, disable_autograd=kind == "disabled")
"""
MADE_ON_THE_WAY: Final = "templates/VariableType.cpp"


@dataclass(frozen=True, slots=True)
class Inputs:
    """The arguments of both generators, save for the output folder."""

    functions: Path
    tags: Path
    folder: Path

    def oracle(self, kind: str, selection: str, out: Path) -> None:
        """Runs torch's generator."""
        out.mkdir(parents=True)
        places = [str(path) for path in (self.functions, self.tags, out, self.folder)]
        run = run_command([sys.executable, "-c", ORACLE, kind, selection, *places], out)
        assert run.code == 0, run.err


@pytest.fixture(scope="session")
def inputs(torch_source: Path) -> Inputs:
    """torch's own definitions and derivatives."""
    native = torch_source / "native"
    return Inputs(native / "native_functions.yaml", native / "tags.yaml", torch_source.parent / "autograd")


@pytest.mark.parametrize(
    ("kind", "selection"), [("all", ""), ("disabled", ""), ("trained", TRAINED)], ids=["all", "disabled", "trained"]
)
def test_writes_what_torch_writes(kind: str, selection: str, inputs: Inputs, tmp_path: Path) -> None:
    inputs.oracle(kind, selection, tmp_path / "torch")
    selector = SelectiveBuilder.from_yaml_str(selection) if selection else None
    gen_autograd(
        inputs.functions, inputs.tags, tmp_path / "opgen", inputs.folder, selector, disable_autograd=kind == "disabled"
    )
    report = compare_trees(tmp_path / "torch", tmp_path / "opgen")
    assert not report.extra, report.render()
    assert not report.differences, report.render()
    assert set(report.missing) <= {MADE_ON_THE_WAY}, report.render()


def test_command(inputs: Inputs, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run names what it would write and writes nothing; a real one writes it; the next changes nothing."""
    arguments = [str(path) for path in (inputs.functions, inputs.tags, tmp_path / "out", inputs.folder)]
    assert main([*arguments, "--dry-run"]) == 0
    assert "31 files, 31 would change" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()
    assert main(arguments) == 0
    assert main(arguments) == 0
    assert "31 files, 0 changed" in capsys.readouterr().out
    assert len(list((tmp_path / "out").glob("[!.]*"))) == 31


def test_hash_seed_makes_no_difference(inputs: Inputs, tmp_path: Path) -> None:
    places = [str(path) for path in (inputs.functions, inputs.tags)]
    for seed in ("1", "2"):
        command = [sys.executable, "-m", "opgen.gen_autograd", *places, str(tmp_path / seed), str(inputs.folder)]
        run = run_command(command, tmp_path, {"PYTHONHASHSEED": seed})
        assert run.code == 0, run.err
    first, second = (_texts(tmp_path / seed) for seed in ("1", "2"))
    assert first == second


def _texts(folder: Path) -> dict[str, bytes]:
    """All files but the manifest, which has the times of files."""
    return {path.name: path.read_bytes() for path in folder.glob("[!.]*")}
