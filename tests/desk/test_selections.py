"""Selections of saved models keep what the models call."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from opgen.diagnostics import Diagnostics
from opgen.installed.exported_models import ExportedModel, read_model
from opgen.run.spine import run

theirs = pytest.importorskip("torchgen.selective_build.selector")

MODELS = """
import sys
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)

    def forward(self, x):
        return torch.relu(self.linear(x)).sum(dim=1, keepdim=True)

    @torch.jit.export
    def first(self, xs: list[int]):
        return xs[0]

class Branches(torch.nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))

model = Model().eval()
script = torch.jit.script(model)
torch.jit.save(script, "script.pt")
script._save_for_lite_interpreter("lite.ptl")
torch.export.save(torch.export.export(model, (torch.ones(2, 3),)), "exported.pt2")
torch.export.save(torch.export.export(Branches(), (torch.ones(2),)), "branches.pt2")
torch.save(model.state_dict(), "weights.pt")
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of saved models."""
    folder = tmp_path_factory.mktemp("models")
    # TorchScript reads the source of what it compiles, so there has to be a file.
    (folder / "models.py").write_text(MODELS, encoding="utf-8")
    done = subprocess.run([sys.executable, "models.py"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def _read(path: Path) -> ExportedModel:
    log = Diagnostics()
    model = read_model(path, log)
    assert model is not None, log.render()
    return model


def test_scripted_models_and_byte_code_call_the_same(models: Path) -> None:
    script, lite = _read(models / "script.pt"), _read(models / "lite.ptl")
    assert script.operators == ("aten::__getitem__.t", "aten::linear", "aten::relu", "aten::sum.dim_IntList")
    assert lite.operators == script.operators
    assert (script.kind, lite.kind) == ("TorchScript", "lite interpreter")


def test_exported_programs(models: Path) -> None:
    exported = _read(models / "exported.pt2")
    assert exported.operators == ("aten::linear", "aten::relu", "aten::sum.dim_IntList")
    assert exported.kind == "torch.export"


def test_graphs_within_exported_programs(models: Path) -> None:
    assert {"aten::sin", "aten::cos"} <= set(_read(models / "branches.pt2").operators)


def test_weights_are_no_model(models: Path) -> None:
    log = Diagnostics()
    assert read_model(models / "weights.pt", log) is None
    assert [problem.id for problem in log.all] == ["unreadable-model"]


def test_selections_of_models(models: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What TorchScript itself brings is known, and the selection says which model wants what."""
    out = models / "selection.yaml"
    paths = [str(models / name) for name in ("script.pt", "exported.pt2")]
    assert run("select", ["model", *paths, "-o", str(out)]) == 0, capsys.readouterr().err
    selector = theirs.SelectiveBuilder.from_yaml_path(str(out))
    assert selector.is_operator_selected("aten::__getitem__.t")
    assert not selector.is_operator_selected("aten::linear.out")
    assert selector.is_root_operator("aten::relu")
    assert not selector.is_operator_selected_for_training("aten::relu")
    assert sorted(selector.operators["aten::relu"].to_dict()["debug_info"]) == ["exported.pt2", "script.pt"]


def test_an_operator_of_a_model_that_is_not_defined(
    models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    native = tmp_path / "ops/native"
    native.mkdir(parents=True)
    (native / "tags.yaml").write_text("- tag: core\n  desc: basic\n", encoding="utf-8")
    definitions = "- func: relu(Tensor self) -> Tensor\n- func: linear(Tensor input, Tensor weight) -> Tensor\n"
    (native / "native_functions.yaml").write_text(definitions, encoding="utf-8")
    where = ["--source-path", str(tmp_path / "ops")]
    assert run("select", ["model", str(models / "exported.pt2"), *where, "-o", str(tmp_path / "out.yaml")]) == 1
    assert "there is no operator 'aten::sum.dim_IntList' [unknown-operator]" in capsys.readouterr().err
    assert not (tmp_path / "out.yaml").exists()
