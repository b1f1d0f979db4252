"""Selections that `opgen select` makes: torchgen reads them, and they keep what the models call."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from expecttest import assert_expected_inline
from hypothesis import given, settings

from opgen.dest.mobile_header import header_values, operator_list
from opgen.diagnostics import Diagnostics
from opgen.frozen_map import FrozenMap
from opgen.installed.exported_models import ExportedModel, read_model
from opgen.run.spine import run
from opgen.selective_build.roots import Extras, Root, select_operators
from opgen.selective_build.selection_text import render_selection
from opgen.selective_build.selector import SelectiveBuilder, combine_selective_builders
from tests.compile.test_compile import Compiler, compiler
from tests.unit.test_selection import normalised, selection_data

__all__ = ["compiler"]

theirs = pytest.importorskip("torchgen.selective_build.selector")

KNOWN = ("aten::add.Tensor", "aten::add.out", "aten::relu", "aten::relu.out", "mylib::twice")


@given(selection_data)
@settings(max_examples=30, deadline=None)
def test_a_selection_is_what_torchgen_reads(data: Mapping[str, Any]) -> None:
    ours = SelectiveBuilder.from_yaml_dict(data)
    read = theirs.SelectiveBuilder.from_yaml_str(render_selection(ours))
    assert read.to_dict() == theirs.SelectiveBuilder.from_yaml_dict(dict(data)).to_dict()
    assert SelectiveBuilder.from_yaml_str(render_selection(ours)).to_dict() == ours.to_dict()


@given(selection_data, selection_data)
@settings(max_examples=30, deadline=None)
def test_what_is_merged_keeps_what_torchgen_would_keep(first: dict[str, Any], second: dict[str, Any]) -> None:
    ours = combine_selective_builders(SelectiveBuilder.from_yaml_dict(first), SelectiveBuilder.from_yaml_dict(second))
    both = [theirs.SelectiveBuilder.from_yaml_dict(data) for data in (first, second)]
    read = theirs.SelectiveBuilder.from_yaml_str(render_selection(ours))
    assert normalised(read.to_dict()) == normalised(theirs.combine_selective_builders(*both).to_dict())


def test_a_name_stands_for_all_overloads_unless_it_has_one() -> None:
    selector = select_operators(["aten::add", "aten::relu.out"], Root())
    assert [name for name in KNOWN if selector.is_operator_selected(name)] == [
        "aten::add.Tensor",
        "aten::add.out",
        "aten::relu.out",
    ]
    one = select_operators(["aten::relu"], Root(all_overloads=False))
    assert not one.is_operator_selected("aten::relu.out")


def test_what_is_said_of_roots() -> None:
    selector = select_operators(["aten::relu"], Root(is_root=False, for_training=True, debug_info=("a",)))
    assert not selector.is_root_operator("aten::relu")
    assert selector.is_operator_selected_for_training("aten::relu")
    assert selector.debug_info == ("a",)


# ----------------------------------------------------------------------------- the header


def test_the_header_lists_operators_by_overload() -> None:
    selector = select_operators(["aten::add", "aten::__getitem__.t", "mylib::twice", "prim::Print"], Root())
    assert operator_list(selector, KNOWN) == [
        "aten::__getitem__.t",
        "aten::add.Tensor",
        "aten::add.out",
        "mylib::twice",
        "prim::Print",
    ]


def test_a_selection_of_everything_limits_nothing() -> None:
    values = header_values(SelectiveBuilder.get_nop_selector(), KNOWN)
    assert values == {"allowlists": [], "checks_kernels": False, "kernel_checks": []}


def test_only_operators_are_limited_if_all_else_is_kept() -> None:
    values = header_values(
        select_operators(["aten::relu.out"], Root(), Extras(FrozenMap(), everything_else=True)), KNOWN
    )
    assert values["allowlists"] == ["#define TORCH_OPERATOR_WHITELIST aten::relu.out"]
    assert values["checks_kernels"] is False


def test_dtypes_may_be_called_by_their_names_in_cpp() -> None:
    kernels = FrozenMap({"add": ("float", "Float", "int64_t"), "none": ()})
    values = header_values(select_operators([], Root(), Extras(kernels)), KNOWN)
    assert_expected_inline(
        "\n".join(map(str, values["kernel_checks"])),  # type: ignore[call-overload]
        """\
if (kernel_tag == "add") {
  return scalar_type == at::ScalarType::Float || scalar_type == at::ScalarType::Long;
}
if (kernel_tag == "none") {
  return false;
}""",
    )


CHECKS = """
#include <ATen/Dispatch.h>
#include <ATen/core/op_registration/op_allowlist.h>

static_assert(at::should_include_kernel_dtype("add_kernel", at::kFloat));
static_assert(!at::should_include_kernel_dtype("add_kernel", at::kDouble));
static_assert(!at::should_include_kernel_dtype("other_kernel", at::kFloat));
static_assert(c10::impl::op_allowlist_check("aten::add.Tensor"));
static_assert(!c10::impl::op_allowlist_check("aten::relu"));
static_assert(c10::impl::schema_allowlist_check("aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"));
static_assert(c10::impl::custom_class_allowlist_check("Packed"));
static_assert(!c10::impl::custom_class_allowlist_check("Other"));
static_assert(c10::impl::is_build_feature_available("TRACING"));
static_assert(!c10::impl::is_build_feature_available("OTHER"));
"""


def test_torch_reads_the_header(compiler: Compiler, tmp_path: Path) -> None:
    """Torch's own headers, in a build that includes ours, keep what was selected and nothing else."""
    selection, tree = tmp_path / "selection.yaml", tmp_path / "tree"
    flags = ["--kernels", "add_kernel=Float,int64_t", "--custom-classes", "lib.Packed", "--build-features", "TRACING"]
    names = ["aten::add", "aten::relu.out"]
    assert run("select", ["roots", "--from-torch", *names, *flags, "-o", str(selection), "-q"]) == 0
    assert run("select", ["header", "--from-torch", str(selection), "-d", str(tree / "ATen"), "-q"]) == 0
    source = tmp_path / "checks.cpp"
    source.write_text(CHECKS, encoding="utf-8")
    compiler.check(source, tree, "-DTEMPLATE_SELECTIVE_BUILD")


# ------------------------------------------------------------------------------- models

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
    assert [problem.id for problem in log.found] == ["unreadable-model"]


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
