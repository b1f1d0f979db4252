"""Rows of docs/differences.md that no other test holds, and that every row is held by some test."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from opgen.api import cpp
from opgen.dest.declarations import emit_declarations_yaml, emit_registration_declarations
from opgen.dest.dispatch_headers import emit_dispatch_headers
from opgen.dest.functionalization import emit_functionalization
from opgen.dest.operators import emit_operator_headers, emit_operator_sources
from opgen.dest.register_dispatch_key import emit_register_dispatch_key
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.derive import out_schema
from opgen.frontend.selection import load_selection
from opgen.model import DispatchKey, FunctionSchema, Type
from opgen.output.template import TemplateSet
from tests.unit.tiny_derivatives import autograd_of
from tests.unit.tiny_programs import options_of, program_of

TEMPLATES = "ATen"

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENT = REPOSITORY / "docs" / "differences.md"


def _rows() -> Iterator[tuple[str, str]]:
    """What each row of the document is about, and the test that it names."""
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if len(cells) == 3 and line.startswith("|") and cells[2] not in ("shown by", "---"):
            yield cells[1], cells[2]


def _is_there(test: str) -> bool:
    if test.startswith("golden:"):
        return (REPOSITORY / "tests/golden/cases" / test.removeprefix("golden:") / "flags").exists() or any(
            (REPOSITORY / "tests/golden/cases" / test.removeprefix("golden:")).glob("*")
        )
    path, _, function = test.partition("::")
    file = REPOSITORY / path
    if not file.is_file():
        return False
    names = {
        node.name for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.FunctionDef)
    }
    return function in names


def test_every_row_names_a_test_that_there_is() -> None:
    rows = list(_rows())
    assert len(rows) > 25
    assert [row for row in rows if not _is_there(row[1])] == []


def test_a_row_without_a_test_would_be_noticed() -> None:
    assert not _is_there("golden:no-such-case")
    assert not _is_there("tests/unit/test_differences.py::test_no_such_test")
    assert not _is_there("tests/unit/test_differences.py")


def test_an_empty_value_in_a_selection_means_the_defaults() -> None:
    log = Diagnostics()
    selector = load_selection(Source("selection.yaml", "operators:\n  aten::add:\n"), log)
    assert log.all == []
    assert selector is not None
    assert selector.is_operator_selected("aten::add.Tensor")


def test_a_composite_kernel_may_be_named() -> None:
    program = program_of("- func: twice(Tensor self) -> Tensor\n  dispatch: {CompositeImplicitAutograd: doubled}\n")
    kernel = program.backend_indices[DispatchKey.CompositeImplicitAutograd].get_kernel(program.functions[0])
    assert kernel is not None
    assert kernel.kernel == "doubled"


def test_a_kernel_may_return_no_tensor() -> None:
    program = program_of("- func: count(Tensor self) -> int\n  dispatch: {CPU: count}\n")
    assert [str(function.func) for function in program.functions] == ["count(Tensor self) -> int"]
    assert program.backend_indices[DispatchKey.CPU].get_kernel(program.functions[0]) is not None


def test_out_arguments_have_names_of_their_own() -> None:
    schema = FunctionSchema.parse("zap(Tensor(a!) out, Tensor q) -> Tensor x")
    assert str(out_schema(schema)) == "zap.out(Tensor(a!) out, Tensor q, *, Tensor(b!) out_) -> Tensor(b!)"


def test_an_operator_is_looked_up_in_its_own_library(templates: TemplateSet) -> None:
    program = program_of("- func: mylib::scale(Tensor self) -> Tensor\n  dispatch: {CPU: scale}\n")
    text = "".join(file.text for file in emit_operator_headers(program, options_of(), templates))
    assert '"mylib::scale"' in text
    assert "aten::scale" not in text


def test_declarations_give_the_namespace(templates: TemplateSet) -> None:
    program = program_of("- func: mylib::scale(Tensor self) -> Tensor\n  dispatch: {CPU: scale}\n")
    for emit in (emit_declarations_yaml, emit_registration_declarations):
        (file,) = emit(program, options_of(), templates)
        assert "mylib::scale(Tensor self)" in file.text
        assert "aten::scale" not in file.text


VIEW = """
- func: half(Tensor(a) self) -> Tensor(a)
  dispatch: {CompositeImplicitAutograd: "my::half_kernel", Meta: "my::half_meta"}
"""


def test_a_composite_view_keeps_its_kernel_namespace(templates: TemplateSet) -> None:
    text = "".join(file.text for file in emit_functionalization(program_of(VIEW), options_of(), templates))
    assert "my::native::half_kernel" in text
    assert "at::native::half_kernel" not in text


FACTORY = "- func: count(int n) -> Tensor\n  dispatch: {CPU: count_cpu, CUDA: count_cuda}\n"
TENSORS = "- func: scale(Tensor self) -> Tensor\n  dispatch: {CPU: scale_cpu, CUDA: scale_cuda}\n"


def _definitions(definitions: str, keys: tuple[DispatchKey, ...], templates: TemplateSet) -> str:
    files = list(emit_operator_sources(program_of(definitions), options_of(static_dispatch_keys=keys), templates))
    return files[-1].text


def test_static_dispatch_without_a_tensor_asks_the_dispatcher(templates: TemplateSet) -> None:
    text = _definitions(FACTORY, (DispatchKey.CPU, DispatchKey.CUDA), templates)
    assert "_dk_set = ;" not in text
    assert "op.call(n)" in text


def test_a_static_backend_without_kernels_is_called_by_its_name(templates: TemplateSet) -> None:
    text = _definitions(FACTORY, (DispatchKey.XPU,), templates)
    assert "Undefined" not in text


def test_static_dispatch_of_an_operator_registered_by_hand_asks_the_dispatcher(templates: TemplateSet) -> None:
    definitions = "- func: byhand(Tensor self) -> Tensor\n  manual_kernel_registration: True\n"
    text = _definitions(definitions, (DispatchKey.CPU,), templates)
    assert "op.call(self)" in text
    assert "compositeimplicitautograd" not in text.partition("namespace at::_ops")[2]


def test_wrappers_of_kernels_in_a_namespace_of_their_own_are_functions_of_the_backend(templates: TemplateSet) -> None:
    program = program_of("- func: scale(Tensor self) -> Tensor\n  dispatch: {CPU: my::scale_cpu}\n")
    options = options_of(dispatch_keys=(DispatchKey.CPU,))
    sources = "".join(file.text for file in emit_register_dispatch_key(program, options, templates))
    headers = "".join(file.text for file in emit_dispatch_headers(program, options, templates))
    assert "return my::native::scale_cpu(self);" in sources
    assert "namespace cpu {" in sources
    assert "at::Tensor scale(const at::Tensor & self);" in headers


def test_a_static_backend_given_twice_counts_once(templates: TemplateSet) -> None:
    text = _definitions(TENSORS, (DispatchKey.CPU, DispatchKey.CUDA, DispatchKey.CPU), templates)
    assert text.count("case DispatchKey::CPU") == 1


def test_autograd_kernels_are_made_for_aten_only() -> None:
    operators = "- func: mylib::scale(Tensor self) -> Tensor\n  dispatch: {CPU: scale}\n"
    autograd = autograd_of("- name: neg(Tensor self) -> Tensor\n  self: -grad\n", operators + NEG)
    assert [str(operator.func.func.name) for operator in autograd.functions] == ["neg"]


NEG = "- func: neg(Tensor self) -> Tensor\n  dispatch: {CPU: neg}\n"
STRUCTURED = """
- func: twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch: {CPU: twice_out}
- func: twice(Tensor self) -> Tensor
  structured_delegate: twice.out
"""


def test_structured_operators_have_meta_kernels_though_nobody_names_meta(templates: TemplateSet) -> None:
    keys = (DispatchKey.CPU, DispatchKey.Meta)
    options = options_of(per_operator_headers=True, dispatch_keys=keys)
    headers = {file.path for file in emit_dispatch_headers(program_of(STRUCTURED), options, templates)}
    assert "ops/twice_meta_dispatch.h" in headers


@pytest.mark.parametrize(
    ("type", "default", "expected"),
    [
        ("bool[2]", "[True, False]", "{true, false}"),
        ("bool[3]", "True", "{true, true, true}"),
        ("Layout", "strided", "at::kStrided"),
        ("Layout?", "strided", "at::kStrided"),
    ],
)
def test_defaults_are_values_of_cpp(type: str, default: str, expected: str) -> None:
    assert cpp.default_expr(default, Type.parse(type), symint=True) == expected
