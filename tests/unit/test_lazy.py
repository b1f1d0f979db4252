"""What is special to lazy backends: classes that they derive, names of their own, what torch's generator fails at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opgen.api.lazy import LazyIrProperties, LazyIrSchema
from opgen.diagnostics import UserError
from opgen.gen_lazy_tensor import GenLazyIR, GenLazyNativeFuncDefinition, GenTSLazyIR, run_gen_lazy_tensor
from opgen.model import FunctionSchema, NativeFunction

OPERATORS = """
- func: twice(Tensor self) -> Tensor
  dispatch: {CPU: twice}
- func: join(Tensor[] parts, int dim=0) -> Tensor
  dispatch: {CPU: join}
- func: both(Tensor self, SymInt[]? sizes=None) -> (Tensor, Tensor)
  dispatch: {CPU: both}
- func: number(Scalar value) -> Tensor
  dispatch: {CPU: number}
- func: placed(Scalar value, Device where) -> Tensor
  dispatch: {CPU: placed}
"""


@dataclass(frozen=True)
class OwnNodes(GenLazyIR):
    """Nodes as a backend with a lowering of its own has them."""

    def lowering_function(self, schema: LazyIrSchema) -> str:
        return f"Ops Lower(Context* context) const override;  // {len(schema.filtered_args(scalars=False))} operands"

    def node_base_ctor_call(self, schema: LazyIrSchema) -> str:
        return f"{self.node_base}(kinds::{schema.node_name})"


@dataclass(frozen=True)
class OwnKernels(GenLazyNativeFuncDefinition):
    """Kernels as a backend that counts in another way has them."""

    def metrics(self, func: NativeFunction, schema: LazyIrSchema) -> str:
        return f'count("{func.func.name}");'


def generate(folder: Path, backend: str, **options: Any) -> dict[str, str]:
    """The files that come of a backend with some of the operators."""
    native = folder / "ATen" / "native"
    native.mkdir(parents=True)
    (native / "native_functions.yaml").write_text(OPERATORS, encoding="utf-8")
    (native / "tags.yaml").write_text("[]", encoding="utf-8")
    (folder / "backend.yaml").write_text(f"backend: Lazy\ncpp_namespace: torch::lazy\n{backend}", encoding="utf-8")
    options = {"shape_inference_hdr": None, **options}
    run_gen_lazy_tensor(folder / "ATen", folder / "backend.yaml", folder / "out", False, None, **options)
    return {path.name: path.read_text(encoding="utf-8") for path in (folder / "out").iterdir() if path.is_file()}


def test_a_backend_derives_the_classes_that_make_nodes_and_kernels(tmp_path: Path) -> None:
    files = generate(
        tmp_path,
        "full_codegen: [twice]\n",
        lazy_ir_generator=OwnNodes,
        native_func_definition_generator=OwnKernels,
        node_base="own::Node",
    )
    assert ": own::Node(kinds::Twice)" in files["LazyIr.h"]
    assert "Ops Lower(Context* context) const override;  // 1 operands" in files["LazyIr.h"]
    assert 'count("twice");' in files["LazyNativeFunctions.cpp"]


def test_two_backends_in_one_process(tmp_path: Path) -> None:
    """The second has no trace of the first, and the first, made again, is the same."""
    first = generate(tmp_path / "first", "full_codegen: [twice]\n")
    second = generate(tmp_path / "second", "full_codegen: [join]\n")
    assert "Join" in second["LazyIr.h"]
    assert "Twice" not in second["LazyIr.h"]
    again = generate(tmp_path / "again", "full_codegen: [twice]\n")
    assert {name: text.replace("/again/", "/first/") for name, text in again.items()} == first


def test_a_list_of_tensors_is_a_value_whatever_class_values_have(tmp_path: Path) -> None:
    files = generate(tmp_path, "full_codegen: [join, both]\n", lazy_value_class="own::Result")
    assert "OpList{parts}" in files["LazyIr.h"]
    assert "GetBackendDevice(parts)" in files["LazyNativeFunctions.cpp"]
    assert "own::Result(node, i)" in files["LazyNativeFunctions.cpp"]


def test_lists_may_be_absent(tmp_path: Path) -> None:
    files = generate(tmp_path, "non_native:\n  - func: cast(Tensor input) -> Tensor\n")
    assert "class Cast " in files["LazyNonNativeIr.h"]
    assert "class" not in files["LazyIr.h"]
    assert files.keys() == {"LazyIr.h", "LazyNonNativeIr.h"}


def test_without_a_header_of_shapes_none_is_included(tmp_path: Path) -> None:
    files = generate(tmp_path, "full_codegen: [twice]\n")
    assert "#include <None>" not in files["LazyNativeFunctions.cpp"]


def test_a_header_of_shapes_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no header 'nowhere\.h'"):
        generate(tmp_path, "full_codegen: [twice]\n", shape_inference_hdr="nowhere.h")


def test_a_list_that_may_be_missing_of_symbolic_integers(tmp_path: Path) -> None:
    files = generate(tmp_path, "full_codegen: [both]\nsymint: [both]\n")
    given = "sizes ? std::make_optional(GetSymIntArrayRefValue(*sizes)) : ::std::nullopt"
    assert given in files["LazyNativeFunctions.cpp"]


def test_an_operator_without_tensors_runs_where_it_is_told_or_by_default(tmp_path: Path) -> None:
    text = generate(tmp_path, "full_codegen: [number, placed]\n")["LazyNativeFunctions.cpp"]
    assert "common_device = std::make_optional(torch::lazy::BackendDevice());" in text
    assert "common_device = torch::lazy::GetBackendDevice(where);" in text


def test_results_made_like_the_first_tensor_need_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="'number': it takes no tensor"):
        generate(tmp_path, "full_codegen: [number]\n", create_from_first_tensor=True)


def _class(schema: str, *properties: str) -> str:
    index: Any = None
    derived = LazyIrSchema.derive(FunctionSchema.parse(schema), LazyIrProperties.of(*properties), symint=True)
    return GenTSLazyIR(index, "Lazy", "TsNode").gen(derived)[0]


def test_what_makes_a_node_is_given_what_its_constructor_takes() -> None:
    assert "return ReuseOrMakeNode<Cast>(input, dtype);" in _class(
        "cast(Tensor input, ScalarType dtype) -> Tensor", "CreateFn"
    )


def test_functions_for_shapes_are_called_without_the_overload() -> None:
    assert "compute_shape_cast(input)" in _class("cast.from_there(Tensor input) -> Tensor", "ShapeCompute")


def test_a_node_that_takes_nothing_can_be_reused() -> None:
    assert "return true;" in _class("nothing() -> Tensor", "CanBeReused")


def test_numbers_are_compared_by_their_hashes() -> None:
    text = _class("cast(Scalar value) -> Tensor", "CanBeReused", "TreatScalarsAsConstants")
    assert "torch::lazy::MHash(this->value) == torch::lazy::MHash(value)" in text
