"""The static runtime's operators where torchgen writes C++ that can't be compiled, or that calls another library."""

from __future__ import annotations

from opgen.dest.static_runtime import emit_static_runtime
from opgen.dest.static_runtime_tests import emit_static_runtime_tests
from opgen.output.template import TemplateSet
from tests.unit.tiny_programs import program_of

TEMPLATES = "static_runtime"


def _code(definitions: str, templates: TemplateSet) -> str:
    (file,) = emit_static_runtime(program_of(definitions), templates)
    assert file.path == "generated_ops.cpp"
    return file.text


OUT = "*, Tensor(a!) out) -> Tensor(a!)"


def test_a_kernel_is_called_in_its_own_namespace(templates: TemplateSet) -> None:
    definitions = f"""
- func: scale(Tensor self) -> Tensor
  dispatch: {{CPU: "my::scale_cpu"}}
- func: scale.out(Tensor self, {OUT}
  dispatch: {{CompositeExplicitAutograd: scale_any_out}}
"""
    text = _code(definitions, templates)
    assert "my::native::scale_cpu(self)" in text
    assert "at::native::scale_any_out(self, out)" in text


def test_an_operator_is_registered_for_its_own_library(templates: TemplateSet) -> None:
    definitions = f"- func: mylib::scale(Tensor self) -> Tensor\n- func: mylib::scale.out(Tensor self, {OUT}\n"
    text = _code(definitions, templates)
    assert "    mylib::scale,\n    mylib_scale,\n" in text
    assert 'torch::schema("mylib::scale(Tensor self) -> Tensor")' in text
    (file,) = emit_static_runtime_tests(program_of(definitions), templates)
    assert "%ret = mylib::scale(%self)" in file.text
    assert "autogen_mylib_scale" in file.text


def test_quotes_in_a_default_are_escaped(templates: TemplateSet) -> None:
    definitions = (
        '- func: round_to(Tensor self, str mode="up") -> Tensor\n'
        f'- func: round_to.out(Tensor self, str mode="up", {OUT}\n'
    )
    assert 'torch::schema("aten::round_to(Tensor self, str mode=\\"up\\") -> Tensor")' in _code(definitions, templates)


def test_operators_without_a_kernel_for_the_cpu_are_left_out(templates: TemplateSet) -> None:
    definitions = f"""
- func: plain(Tensor self) -> Tensor
  dispatch: {{CUDA: plain_cuda}}
- func: plain.out(Tensor self, {OUT}
  dispatch: {{CPU: plain_out}}
- func: shaped(Tensor self) -> Tensor
  structured_delegate: shaped.out
- func: shaped.out(Tensor self, {OUT}
  structured: True
  dispatch: {{CUDA: shaped_cuda}}
- func: view_of(Tensor(a) self) -> Tensor(a)
  dispatch: {{CUDA: view_cuda}}
- func: view_of_copy(Tensor self) -> Tensor
  dispatch: {{CompositeExplicitAutogradNonFunctional: view_of_copy}}
  autogen: view_of_copy.out
"""
    text = _code(definitions, templates)
    assert "plain" not in text
    assert "shaped" not in text
    assert "aten::view_of," not in text
    assert "aten::view_of_copy," in text
