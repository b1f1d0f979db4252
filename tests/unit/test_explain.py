"""`opgen explain`, `opgen list` and `opgen schema`: what they print, and that they write nothing."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from expecttest import assert_expected_inline
from jsonschema import Draft7Validator

from opgen import __main__ as command
from opgen.desk.json_schema import KINDS
from opgen.desk.registrations import KEYS_IN_PYTHON

DEFINITIONS = """\
- func: lib::scale(Tensor self, float by=2.0) -> Tensor
  structured_delegate: scale.out
- func: lib::scale_(Tensor(a!) self, float by=2.0) -> Tensor(a!)
  structured_delegate: scale.out
- func: lib::scale.out(Tensor self, float by=2.0, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: scale_cpu
- func: lib::tally(Tensor self, Tensor(a!) total) -> Tensor
  dispatch:
    CPU: tally
  autogen: tally_functional, tally.out
- func: lib::twice(Tensor self) -> Tensor
"""
DERIVATIVES = """\
- name: scale(Tensor self, float by=2.0) -> Tensor
  self: grad * by
"""


@pytest.fixture(autouse=True)
def ops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("native/native_functions.yaml", DEFINITIONS), ("autograd/derivatives.yaml", DERIVATIVES)):
        path = tmp_path / "ops" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert command.main([*words, "--source-path", "ops"]) == 0
    assert [path.name for path in Path().iterdir()] == ["ops"]
    return capsys.readouterr().out


def without_lines(text: str) -> str:
    """Lines of generated files change with templates."""
    return re.sub(r"(\.cpp):\d+", r"\1:N", text)


def test_a_structured_operator(capsys: pytest.CaptureFixture[str]) -> None:
    assert_expected_inline(
        without_lines(printed(capsys, "explain", "lib::scale")),
        """\
lib::scale

forms
  scale      functional  delegates to scale.out  ops/native/native_functions.yaml:1:14
  scale.out  out         structured              ops/native/native_functions.yaml:5:14
  scale_     in-place    delegates to scale.out  ops/native/native_functions.yaml:3:14

kernels by dispatch key
  Functionalize    scale      -                       torch's fallback
  Functionalize    scale.out  generated               RegisterFunctionalize.cpp:N
  Functionalize    scale_     generated               RegisterFunctionalize.cpp:N
  ADInplaceOrView  scale      -                       torch's fallback
  ADInplaceOrView  scale.out  generated               RegisterADInplaceOrView.cpp:N
  ADInplaceOrView  scale_     generated               RegisterADInplaceOrView.cpp:N
  Autograd         scale      generated               RegisterDerivatives.cpp:N
  Autograd         scale.out  generated               RegisterDerivatives.cpp:N
  Autograd         scale_     generated               RegisterDerivatives.cpp:N
  CPU              scale      generated               RegisterCPU.cpp:N
  CPU              scale.out  lib::native::scale_cpu  RegisterCPU.cpp:N
  CPU              scale_     generated               RegisterCPU.cpp:N
  CUDA             scale      -                       no kernel: a call raises NotImplementedError
  CUDA             scale.out  -                       no kernel: a call raises NotImplementedError
  CUDA             scale_     -                       no kernel: a call raises NotImplementedError
  Meta             scale      generated               RegisterMeta.cpp:N
  Meta             scale.out  generated               RegisterMeta.cpp:N
  Meta             scale_     generated               RegisterMeta.cpp:N

kernels to write
  shape function: TORCH_META_FUNC(scale)(const at::Tensor & self, double by)
  CPU: TORCH_IMPL_FUNC(scale_cpu)(const at::Tensor & self, double by, const at::Tensor & out)

C++
  at::Tensor scale(const at::Tensor & self, double by=2.0)
  at::Tensor & scale_out(at::Tensor & out, const at::Tensor & self, double by=2.0)
  at::Tensor & scale_outf(const at::Tensor & self, double by, at::Tensor & out)
  at::Tensor & scale_(at::Tensor & self, double by=2.0)

dispatcher
  at::Tensor scale(const at::Tensor & self, double by)
  at::Tensor & scale_out(const at::Tensor & self, double by, at::Tensor & out)
  at::Tensor & scale_(at::Tensor & self, double by)

Python
  def scale(input: Tensor, by: _float = 2.0) -> Tensor: ...
  def scale(input: Tensor, by: _float = 2.0, *, out: Tensor | None = None) -> Tensor: ...
  def scale_(input: Tensor, by: _float = 2.0) -> Tensor: ...

gradients
  self: grad * by

what torch does with it
  autograd           scale      RegisterDerivatives.cpp:N
  autograd           scale.out  RegisterDerivatives.cpp:N
  autograd           scale_     RegisterDerivatives.cpp:N
  functionalization  scale      not needed
  functionalization  scale.out  RegisterFunctionalize.cpp:N
  functionalization  scale_     RegisterFunctionalize.cpp:N
  vmap               scale      vmap falls back to a loop over the batch, with a warning
  vmap               scale.out  vmap falls back to a loop over the batch, with a warning
  vmap               scale_     vmap falls back to a loop over the batch, with a warning
  meta               scale      RegisterMeta.cpp:N
  meta               scale.out  RegisterMeta.cpp:N
  meta               scale_     RegisterMeta.cpp:N
""",
    )


def test_a_form_names_its_operator(capsys: pytest.CaptureFixture[str]) -> None:
    whole = printed(capsys, "explain", "scale")
    for name in ("scale.out", "scale_", "lib::scale_"):
        assert printed(capsys, "explain", name) == whole


def test_what_is_missing_is_said_with_its_cost(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "explain", "tally")
    assert re.search(r"tally_functional +functional +autogen of tally ", text)
    assert re.search(r"CUDA +tally +- +no kernel: a call raises NotImplementedError", text)
    assert re.search(r"autograd +tally +RegisterAutogradFallback\.cpp:\d+", text)
    assert re.search(r"vmap +tally +vmap falls back to a loop over the batch, with a warning", text)
    assert re.search(r"meta +tally +torch\.compile, torch\.export and fake tensors can't run it", text)
    assert "  CPU: at::Tensor lib::native::tally(const at::Tensor & self, at::Tensor & total)\n" in text


def test_an_operator_made_of_others_needs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "explain", "twice")
    assert re.search(r"CUDA +twice +- +CompositeImplicitAutograd serves it", text)
    assert re.search(r"vmap +twice +RegisterCompositeImplicitAutograd\.cpp:\d+", text)


def test_json_has_what_the_text_has(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(printed(capsys, "explain", "scale", "--json"))
    assert [form["name"] for form in found["forms"]] == ["scale", "scale.out", "scale_"]
    assert found["gradients"] == ["self: grad * by"]
    cell = next(each for each in found["table"] if each["key"] == "CPU" and each["form"] == "scale.out")
    assert cell["kernel"] == "lib::native::scale_cpu"
    assert cell["place"].startswith("RegisterCPU.cpp:")


def test_the_stable_abi(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Kernels take tensors of the stable ABI, the Python package registers the rest, and C++ has no functions."""
    assert command.main(["new", "lab", "--into", "project", "--stable-abi", "-q"]) == 0
    words = ["--source-path", "project/ops", "--stable-abi", "2.10"]
    assert command.main(["explain", "scaled_add", *words]) == 0
    text = capsys.readouterr().out
    assert "  CPU: torch::stable::Tensor lab::native::scaled_add(const torch::stable::Tensor & self, " in text
    assert "\nC++\n" not in text
    assert re.search(r"CPU +scaled_add +lab::native::scaled_add +Register\.cpp:\d+\n", text)
    for key in ("FuncTorchBatched", "Functionalize", "ADInplaceOrView", "Autograd", "Meta"):
        assert re.search(rf"{key} +scaled_add_ +generated +python/lab/_registrations\.py:\d+\n", text), key
    assert "gradients\n  self: grad\n  other: grad * scale\n" in text
    assert command.main(["list", *words]) == 0
    assert re.search(r"lab::scaled_add +CPU +differentiable ", capsys.readouterr().out)
    definitions = ops / "project/ops/native/native_functions.yaml"
    shutil.copytree("project/ops", "later/ops")
    definitions.write_text(definitions.read_text().replace("float scale=1.0", "float scale"))
    assert command.main(["diff", "later/ops", "project/ops", *words[2:]]) == 2  # derivatives.yaml has the default
    capsys.readouterr()
    derivatives = ops / "project/ops/autograd/derivatives.yaml"
    derivatives.write_text(derivatives.read_text().replace("float scale=1.0", "float scale"))
    assert command.main(["diff", "later/ops", "project/ops", *words[2:]]) == 0
    out = capsys.readouterr().out
    assert "  ! breaks callers: the argument 'scale' no longer has a default\n" in out
    assert "C++:" not in out


def test_everything_that_a_stable_package_registers_is_found(repository: Path) -> None:
    text = (repository / "opgen" / "stable" / "python_package.py").read_text()
    assert set(re.findall(r"_support\.register_(\w+)\(", text)) == set(KEYS_IN_PYTHON)


def test_an_unknown_operator(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["explain", "scal", "--source-path", "ops"]) == 1
    assert "there is no operator 'scal' [unknown-operator]\n  did you mean 'scale'?" in capsys.readouterr().err


def test_an_operator_that_is_like_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["explain", "quux", "--source-path", "ops"]) == 1
    assert "[unknown-operator]\n  'opgen list' lists the operators\n" in capsys.readouterr().err


def test_one_line_for_each_operator(capsys: pytest.CaptureFixture[str]) -> None:
    assert_expected_inline(
        printed(capsys, "list"),
        """\
lib::scale             of scale.out               differentiable  ops/native/native_functions.yaml:1:14
lib::scale.out         CPU                        -               ops/native/native_functions.yaml:5:14
lib::scale_            of scale.out               -               ops/native/native_functions.yaml:3:14
lib::tally             CPU                        -               ops/native/native_functions.yaml:10:14
lib::tally.out         CompositeExplicitAutograd  -               ops/native/native_functions.yaml:10:14
lib::tally_functional  CompositeExplicitAutograd  -               ops/native/native_functions.yaml:10:14
lib::twice             CompositeImplicitAutograd  -               ops/native/native_functions.yaml:14:14
""",
    )


@pytest.mark.parametrize("kind", KINDS)
def test_schemas(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    Draft7Validator.check_schema(json.loads(printed(capsys, "schema", kind)))


def test_a_schema_has_the_tags_of_the_definitions(ops: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (ops / "ops/native/tags.yaml").write_text("- tag: shiny\n  desc: It shines.\n")
    schema = json.loads(printed(capsys, "schema"))
    entry = {"func": "f(Tensor self) -> Tensor"}
    assert Draft7Validator(schema).is_valid([{**entry, "tags": "shiny"}])
    assert not Draft7Validator(schema).is_valid([{**entry, "tags": "core"}])
