"""What derivatives of an extension's operators are made of, beside what tests/extension runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from opgen.api.autograd import NativeFunctionWithDifferentiabilityInfo
from opgen.commands._extension import extension_templates
from opgen.diagnostics import Diagnostics, Source
from opgen.extension.autograd_fallback import emit_autograd_fallback
from opgen.extension.derivatives import HELPERS, OPERATORS_PER_FILE, emit_derivatives
from opgen.extension.extension import Extension, ExtensionOptions, derive_extension
from opgen.extension.rules import check_derivatives
from opgen.extension.versions import emit_versions
from opgen.frontend.autograd_functions import derive_autograd
from tests.unit.tiny_programs import program_of

ROOT: Final = Path(__file__).resolve().parents[2]


def extension_of(operators: str, entries: str) -> Extension:
    """An extension `my` of these operators with these derivatives."""
    program, log = program_of(operators), Diagnostics()
    autograd = derive_autograd(program, Source("d.yaml", entries), log, program.selector, namespace="my")
    assert autograd is not None, log.render()
    return replace(derive_extension(program, "my", ExtensionOptions()), autograd=autograd)


def files_of(extension: Extension) -> dict[str, str]:
    """The sources that hold derivatives."""
    files = emit_derivatives(extension, extension_templates())
    return {file.path: file.text for file in files if file.path.endswith(".cpp")}


def matched(extension: Extension, name: str) -> NativeFunctionWithDifferentiabilityInfo:
    """An operator with its derivatives."""
    assert extension.autograd is not None
    return next(one for one in extension.autograd.functions if str(one.func.func.name) == name)


def many(count: int) -> Extension:
    """Operators `op_0`, `op_1`, … that all have derivatives."""
    names = [f"op_{at}" for at in range(count)]
    operators = "".join(f"- func: my::{name}(Tensor self) -> Tensor\n  dispatch: {{CPU: {name}}}\n" for name in names)
    return extension_of(operators, "".join(f"- name: {name}(Tensor self) -> Tensor\n  self: grad\n" for name in names))


@pytest.mark.parametrize("name", ["twice", "result"])
def test_in_place_formulas_call_operators_by_their_names(name: str) -> None:
    operators = (
        f"- func: result::{name}(Tensor self) -> Tensor\n  dispatch: {{CPU: twice}}\n"
        f"- func: result::{name}_(Tensor(a!) self) -> Tensor(a!)\n  dispatch: {{CPU: twice_}}\n"
        f"- func: result::{name}.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n  dispatch: {{CPU: twice_out}}\n"
    )
    entries = f"- name: {name}(Tensor self) -> Tensor\n  self: grad * 2\n  result: auto_linear\n"
    program, log = program_of(operators), Diagnostics()
    autograd = derive_autograd(program, Source("d.yaml", entries), log, program.selector, namespace="result")
    assert autograd is not None, log.render()
    (formula,) = {
        one.formula
        for function in autograd.functions
        if str(function.func.func.name) == f"{name}_" and function.fw_derivatives
        for one in function.fw_derivatives["Default"]
    }
    call = f"::result::{name}(self_t)"
    assert formula == f"self_t_raw.defined() ? self_t_raw.copy_({call}) : {call}"


def test_few_operators_are_in_one_file_and_many_in_several() -> None:
    assert list(files_of(many(OPERATORS_PER_FILE))) == ["RegisterDerivatives.cpp"]
    names = [f"RegisterDerivatives_{index}.cpp" for index in range(4)]
    assert list(files_of(many(2 * OPERATORS_PER_FILE + 1))) == names


def test_one_more_operator_changes_one_file() -> None:
    before, after = files_of(many(100)), files_of(many(101))
    assert sum(before[path] != after[path] for path in before) == 1


def test_no_derivatives_no_file() -> None:
    extension = extension_of("- func: my::op(Tensor self) -> Tensor\n  dispatch: {CPU: op}\n", "[]")
    assert files_of(extension) == {}


IN_PLACE = "- func: my::op_(Tensor(a!) self) -> Tensor(a!)\n  autogen: op, op.out\n  dispatch: {CPU: op_}\n"


def test_tangents_of_in_place_forms_are_like_any_formula() -> None:
    entries = "- name: op_(Tensor(a!) self) -> Tensor(a!)\n  self: grad * result\n  result: self_t * self_p\n"
    extension = extension_of(IN_PLACE, entries)
    functional, inplace = (matched(extension, name).fw_derivatives for name in ("op", "op_"))
    assert functional is not None
    assert inplace is not None
    assert functional["Default"][0].formula == "self_t * self_p"
    # Whoever has the tangent sees it change; what was written over is what the formula means.
    written = "self_t_raw.defined() ? self_t_raw.copy_(original_self_t * original_self_p)"
    assert inplace["Default"][0].formula.startswith(written)


def test_linear_operators_are_called_where_they_are() -> None:
    operators = "- func: my::op(Tensor self, SymInt n) -> Tensor\n  dispatch: {CPU: op}\n"
    entries = "- name: op(Tensor self, SymInt n) -> Tensor\n  self: grad\n  result: auto_linear\n"
    text = files_of(extension_of(operators, entries))["RegisterDerivatives.cpp"]
    assert "\n          ::my::op_symint(self_t, n)\n" in text


def test_lines_are_counted_on_after_formulas() -> None:
    operators = "- func: my::op(Tensor self, Tensor? w) -> Tensor\n  dispatch: {CPU: op}\n"
    entries = "- name: op(Tensor self, Tensor? w) -> Tensor\n  self: 'w.has_value() ? grad * *w : grad * w->sum()'\n"
    lines = files_of(extension_of(operators, entries))["RegisterDerivatives.cpp"].splitlines()
    at = lines.index("         w.defined() ? grad * w : grad * w.sum()")
    assert lines[at - 1].startswith("#line 2 ")
    assert lines[at + 1] == f'#line {at + 3} "RegisterDerivatives.cpp"'


def test_what_torch_knows_of_its_operators_by_name_holds_for_them_only() -> None:
    operators = "".join(
        f"- func: my::{name}(Tensor self, Tensor output) -> Tensor\n  dispatch: {{CPU: {name}}}\n"
        for name in ("detach", "searchsorted", "add")
    )
    entries = "".join(
        f"- name: {name}(Tensor self, Tensor output) -> Tensor\n  self: grad\n" for name in ("detach", "searchsorted")
    )
    entries += "- name: add(Tensor self, Tensor output) -> Tensor\n  handles_complex: True\n  self: grad\n"
    text = files_of(extension_of(operators, entries))["RegisterDerivatives.cpp"]
    assert text.count("set_history(") == 3
    assert text.count('check_no_requires_grad(output, "output"') == 3
    assert 'throw_error_for_complex_autograd(result, "detach")' in text
    assert 'throw_error_for_complex_autograd(result, "add")' not in text


def test_writes_beside_other_results_are_counted() -> None:
    operators = """
- func: my::op(Tensor self, Tensor(a!) total) -> Tensor
  autogen: op_functional, op.out
  dispatch: {CPU: op}
"""
    entries = "- name: op(Tensor self, Tensor(a!) total) -> Tensor\n  self: grad\n"
    text = files_of(extension_of(operators, entries))["RegisterDerivatives.cpp"]
    kernel = text[text.index("record_op(") :].partition("\n}\n")[0]
    # What counts versions is the kernel below, which must not be skipped.
    assert "at::AutoDispatchBelowAutograd guard;" in kernel
    assert 'check_no_requires_grad(total, "total", "op");' in kernel


def test_derivatives_for_one_kind_of_device_leave_an_error_for_the_others() -> None:
    operators = "- func: my::op(Tensor self) -> Tensor\n  dispatch: {CPU: op, CUDA: op}\n"
    entries = "- name: op(Tensor self) -> Tensor\n  dispatch: {AutogradCUDA: {self: grad}}\n"
    extension = extension_of(operators, entries)
    (fallback,) = emit_autograd_fallback(extension, extension_templates())
    assert 'm.impl("op", torch::autograd::autogradNotImplementedFallback());' in fallback.text
    text = files_of(extension)["RegisterDerivatives.cpp"]
    assert "TORCH_LIBRARY_IMPL(my, AutogradCUDA, m)" in text
    assert "TORCH_LIBRARY_IMPL(my, Autograd, m)" not in text


def test_an_operator_that_becomes_a_view_of_itself_is_a_write() -> None:
    operators = """
- func: my::flat(Tensor(a) self) -> Tensor(a)
  dispatch: {CompositeExplicitAutograd: flat}
- func: my::flat_(Tensor(a!) self) -> Tensor(a!)
  tags: inplace_view
  dispatch: {CompositeExplicitAutograd: flat_}
- func: my::flat_copy(Tensor self) -> Tensor
  dispatch: {CompositeExplicitAutogradNonFunctional: flat_copy}
"""
    (file,) = emit_versions(derive_extension(program_of(operators), "my", ExtensionOptions()), extension_templates())
    kernels = file.text[file.text.index("view_flat(") :]
    assert "count_write(self);" in kernels[kernels.index("write_flat_(") :]


def differentiated(type: str) -> str:
    """The source for an operator whose formula uses an argument of some type."""
    schema = f"op(Tensor self, {type} v) -> Tensor"
    operators = f"- func: my::{schema}\n  random: False\n  dispatch: {{CPU: op}}\n"
    extension = extension_of(operators, f"- name: {schema}\n  self: f(grad, v)\n")
    assert extension.autograd is not None
    if list(check_derivatives(extension.program, extension.autograd)):
        return ""
    return files_of(extension)["RegisterDerivatives.cpp"]


@pytest.mark.parametrize(
    ("type", "member"),
    [
        ("bool[2]", "::std::array<bool,2> v;"),
        ("bool[2]?", "::std::optional<::std::array<bool,2>> v;"),
        ("float[]", "std::vector<double> v;"),
        ("str[]", "std::vector<std::string> v;"),
        ("ScalarType[]", "std::vector<at::ScalarType> v;"),
        ("Scalar[]?", "c10::OptionalArray<at::Scalar> v;"),
        ("Device", "at::Device v{at::kCPU};"),
        ("Generator?", "::std::optional<at::Generator> v;"),
    ],
)
def test_nodes_own_what_they_keep(type: str, member: str) -> None:
    text = differentiated(type)
    assert member in text
    # torch can't put anything else in the place of these, and has no functions that would.
    assert "saved.before(v);" not in text
    assert "args.collect(v);" in text


@pytest.mark.parametrize("type", ["SymInt", "SymInt?", "SymInt[]", "SymInt[]?"])
def test_symbols_are_replaced_by_the_compiler_of_graphs(type: str) -> None:
    assert "saved.before(v);" in differentiated(type)


@pytest.mark.parametrize(
    "type", ["Storage", "Stream?", "QScheme[]", "SymBool", "int?[]", "str[]?", "Generator?[]", "Tensor[]?"]
)
def test_what_cannot_be_kept_is_said(type: str) -> None:
    assert differentiated(type) == ""


def test_lists_with_gaps_have_gradients() -> None:
    schema = "op(Tensor self, Tensor?[] v) -> Tensor"
    operators = f"- func: my::{schema}\n  dispatch: {{CPU: op}}\n"
    text = files_of(extension_of(operators, f"- name: {schema}\n  v: f(grad, v)\n"))["RegisterDerivatives.cpp"]
    assert "size_t v_size_;" in text
    assert "auto v_ix = gen.range(v_size_);" in text
    assert "\n     f(grad, v)\n" in text


def test_operators_that_are_called_as_functions_of_the_file() -> None:
    operators = "".join(f"- func: my::{name}(Tensor self) -> Tensor\n  dispatch: {{CPU: f}}\n" for name in NAMESAKES)
    entries = "".join(f"- name: {name}(Tensor self) -> Tensor\n  self: unpack(grad)\n" for name in NAMESAKES)
    text = files_of(extension_of(operators, entries))["RegisterDerivatives.cpp"]
    assert "using ::my::unpack;" in text
    # No formula calls it.
    assert "using ::my::set_history;" not in text


NAMESAKES = ("unpack", "set_history")


def test_functions_of_the_file_are_known() -> None:
    text = (ROOT / "templates" / "extension" / "RegisterDerivatives.cpp").read_text(encoding="utf-8")
    used = re.findall(r"^using (?:\w+::)+(\w+);", text, re.MULTILINE)
    functions = {name for name in used if name[0].islower() and not name.endswith("_list")}
    assert functions - {"edge_list"} <= HELPERS
    assert all(re.search(rf"\b{name}\b", text) for name in HELPERS)
