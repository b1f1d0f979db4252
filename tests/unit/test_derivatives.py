"""What entries of derivatives.yaml become: formulas and what is kept for them, nodes, and other forms' derivatives."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from opgen.api.autograd import DifferentiabilityInfo, gen_differentiable_outputs, identifiers
from opgen.api.autograd_matching import match_differentiability_info
from opgen.api.types import CONST_TENSOR, LONG, OPTIONAL_TENSOR, TENSOR, TENSOR_LIST, NamedCType
from opgen.frontend.derivatives import node_class_prefix
from opgen.frontend.formulas import find_problems, save_variables
from opgen.model import OperatorName
from tests.unit.tiny_derivatives import OPERATORS, autograd_of, derivatives_of
from tests.unit.tiny_programs import program_of

INPUTS = {
    "self": NamedCType("self", TENSOR),
    "other": NamedCType("other", OPTIONAL_TENSOR),
    "dim": NamedCType("dim", LONG),
}
RESULT = {"result": NamedCType("result", TENSOR)}


@pytest.mark.parametrize(
    ("formula", "text", "kept"),
    [
        ("grad * self", "grad * self", "self"),
        ("f(grad, self.sym_sizes())", "f(grad, self_sym_sizes)", "self_sym_sizes = self.sym_sizes()"),
        ("self.sym_size(-1)", "self_sym_argsize_minus_1", "self_sym_argsize_minus_1 = self.sym_size(-1)"),
        ("self.sym_size(dim)", "self_sym_argsize_dim", "self_sym_argsize_dim = self.sym_size(dim)"),
        ("zeros_like(self)", "self_info.zeros()", "self_info = self"),
        ("zeros_like(grad)", "zeros_like(grad)", ""),
        ("self.options(), self", "self_options, self", "self_options = self.options(), self"),
        ("self, self.options()", "self, self_options", "self_options = self.options(), self"),
        ("self.sym_strides()", "self_sym_strides", 'self_sym_strides = strides_or_error(self, "self")'),
        ("f(result.layout(), result)", "f(result_layout, result)", "result_layout = result.layout(), result"),
        ("selfish(self_t, a.b)", "selfish(self_t, a.b)", ""),
        ("dim, other, self", "dim, other, self", "self, other, dim"),
    ],
)  # fmt: skip
def test_what_a_formula_keeps(formula: str, text: str, kept: str) -> None:
    found = save_variables(formula, identifiers(formula), INPUTS, RESULT)
    saved = (*found.saved_inputs, *found.saved_outputs)
    shown = [one.name if one.name == one.expr else f"{one.name} = {one.expr}" for one in saved]
    assert (found.text, ", ".join(shown)) == (text, kept)


@pytest.mark.parametrize(
    ("formula", "wrong"),
    [
        ("f(grad) / self", []),
        ("""f("(", 'it', self) /* ) selff */""", []),
        ("std::vector<Tensor>({self.f(), at::zeros({}), grad})", []),
        ("self < grad ? self : grad", []),
        ("self_sum + sum(self)", ["self_sum"]),
        ("sum + sum(self)", ["sum"]),
        ("(/*)*/ self", ["("]),
        ("(self] + selff", ["]", "selff"]),
        ("f(self, \"grad)", ["\"grad)"]),
        ("selff<grad", ["selff"]),
        ("true < self && M_PI < self && std::max<int64_t>(self, grad) < 3", []),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_formula(formula: str, wrong: list[str]) -> None:
    problems = find_problems(formula, identifiers(formula), frozenset({"self", "grad"}))
    assert [formula[one.start : one.end] for one in problems] == wrong


def _one(entries: str, name: str, key: str = "Default") -> DifferentiabilityInfo:
    derivatives, said = derivatives_of(entries)
    assert said == ""
    return derivatives[OperatorName.parse(name)][key]


def test_an_entry() -> None:
    info = _one(
        """
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self: mul_backward(grad, other, self.scalar_type())
  other: mul_backward(grad, self, other.scalar_type())
  result: other_t * self_p + self_t * other_p
""",
        "mul.Tensor",
    )
    assert info.op == "MulBackward0"
    assert [(d.var_names, d.formula) for d in info.derivatives] == [
        (("other",), "mul_backward(grad, self, other_scalar_type)"),
        (("self",), "mul_backward(grad, other, self_scalar_type)"),
    ]
    assert [b.name for b in info.args_with_derivatives] == ["self", "other"]
    (forward,) = info.forward_derivatives
    assert forward.required_inputs_fw_grad == forward.required_inputs_primal == ("self", "other")


def test_one_formula_for_several_arguments() -> None:
    info = _one(
        """
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self, other: f(grad, grad_input_mask)
""",
        "mul.Tensor",
    )
    assert [d.var_names for d in info.derivatives] == [("self", "other")]


@pytest.mark.parametrize(
    ("word", "formula"),
    [("auto_linear", "at::neg(self_t)"), ("auto_element_wise", "(self_t.conj() * self_p).conj()")],
)
def test_forward_formulas_that_follow(word: str, formula: str) -> None:
    info = _one(f"- name: neg(Tensor self) -> Tensor\n  self: grad * self\n  result: {word}\n", "neg")
    assert [d.formula for d in info.forward_derivatives] == [formula]


def test_named_gradients_and_differentiability() -> None:
    info = _one(
        """
- name: pair(Tensor self, Tensor? other, int dim) -> (Tensor values, Tensor indices, int n)
  output_differentiability: [True, False, False]
  self: f(grad_values, indices)
  other: non_differentiable
""",
        "pair",
    )
    assert info.available_named_gradients == ("grad_values",)
    assert info.used_named_gradients == {"grad_values"}
    assert info.non_differentiable_arg_names == ("other",)
    assert info.output_differentiability == (True, False, False)


def test_derivatives_for_a_dispatch_key() -> None:
    entries = """
- name: neg(Tensor self) -> Tensor
  dispatch:
    Default:
      self: -grad
    AutogradNestedTensor:
      self: nested(grad)
"""
    assert _one(entries, "neg").op == "NegBackward0"
    assert _one(entries, "neg", "AutogradNestedTensor").op == "NegBackwardAutogradNestedTensor0"


def test_conditions_of_differentiability() -> None:
    info = _one(
        "- name: neg(Tensor self) -> Tensor\n  output_differentiability: ['self.defined()']\n  self: -grad\n", "neg"
    )
    assert info.output_differentiability == (True,)
    assert info.output_differentiability_conditions == ("self.defined()",)


@pytest.mark.parametrize(
    ("operator", "prefix"),
    [
        ("neg", "NegBackward"),
        ("_log_softmax", "LogSoftmaxBackward"),
        ("nll_loss_forward", "NllLossBackward"),
        ("__and__", "AndBackward"),
        ("log1p", "Log1PBackward"),
        ("_2d", "_2DBackward"),
    ],
)
def test_names_of_nodes(operator: str, prefix: str) -> None:
    assert node_class_prefix(operator) == prefix


def test_copies_have_their_views_derivatives() -> None:
    info = _one("- name: select.int(Tensor(a) self, int dim) -> Tensor(a)\n  self: f(grad, dim)\n", "select_copy.int")
    assert info.op == "SelectBackward0_copy"
    assert str(info.func.func.name) == "select_copy.int"


# ------------------------------------------------------------------------------------ other forms

NEG = "- name: neg(Tensor self) -> Tensor\n  self: -grad * self\n  result: f(self_t, self_p, result)\n"
MUL = "- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: grad * other\n  other: grad * self\n"


def test_in_place_forms_compute_the_tangent_in_place() -> None:
    program = program_of(OPERATORS)
    derivatives, _ = derivatives_of(NEG)
    matched = match_differentiability_info(program.functions, derivatives)
    found = {str(one.func.func.name): one for one in matched.functions}
    assert found["neg_"].fw_derivatives is not None
    (forward,) = found["neg_"].fw_derivatives["Default"]
    call = "f(original_self_t, original_self_p, self_p)"
    assert forward.formula == f"self_t_raw.defined() ? self_t_raw.copy_({call}) : {call}"
    assert forward.required_original_self_value
    assert found["neg.out"].info is not None
    assert found["select.int"].info is None


def test_what_has_the_same_signature_shares_derivatives_whatever_its_defaults() -> None:
    operators = """
- func: grow(Tensor self, int by=1) -> Tensor
  dispatch: {CPU: grow}
- func: grow.again(Tensor self, int by) -> Tensor
- func: grow.twice(Tensor self, int by, int times) -> Tensor
  dispatch: {CPU: grow_twice}
"""
    program = autograd_of("- name: grow(Tensor self, int by=1) -> Tensor\n  self: grad\n", operators)
    ops = {str(one.func.func.name): one.info and one.info["Default"].op for one in program.functions}
    assert ops == {"grow": "GrowBackward0", "grow.again": "GrowBackward0", "grow.twice": None}


def test_operators_on_lists_have_the_derivatives_of_those_on_tensors() -> None:
    program = autograd_of(NEG + MUL)
    found = {info.op: info for info in program.list_infos}
    assert found.keys() == {"ForeachMulBackward0List", "ForeachNegBackward0"}
    info = found["ForeachMulBackward0List"]
    assert [d.formula for d in info.derivatives] == ["grads[i] * self[i]", "grads[i] * other[i]"]
    in_place = next(one for one in program.functions if str(one.func.func.name) == "_foreach_neg_")
    assert in_place.info is not None
    assert in_place.info["Default"].op == "NegBackward0"


@pytest.mark.parametrize(
    ("results", "lists", "more"),
    [
        ("(Tensor, Tensor)", "Tensor[]", ""),
        ("(Tensor, Tensor)", "(Tensor[], Tensor[])", ""),
        ("Tensor", "Tensor[]", "  output_differentiability: ['self.is_floating_point()']\n"),
    ],
)
def test_what_is_not_about_elements_has_no_derivatives_on_lists(results: str, lists: str, more: str) -> None:
    operators = f"""
- func: mul.Tensor(Tensor self, Tensor other) -> {results}
  dispatch: {{CPU: mul}}
- func: _foreach_mul.List(Tensor[] self, Tensor[] other) -> Tensor[]
  device_check: NoCheck
  dispatch: {{CPU: foreach_mul}}
"""
    derivative = f"- name: mul.Tensor(Tensor self, Tensor other) -> {results}\n  self: grad\n{more}"
    program = autograd_of(derivative, operators)
    assert not program.list_infos


@pytest.mark.parametrize(
    ("written", "formula", "kept"),
    [
        ("grad.f(self.sym_sizes()) * other", "grads[i].f(self[i].sym_sizes()) * other[i]", ["self", "other"]),
        ("f(self.sym_strides())", "f(self[i].sym_strides())", ["self"]),
        ("f(zeros_like(other), other.options())", "f(zeros_like(other[i]), other[i].options())", ["other"]),
        ("f(result.sym_size(0), result)", "f(result[i].sym_size(0), result[i])", ["result"]),
        ("f(result.scalar_type())", "f(result[i].scalar_type())", ["result"]),
        ("grads[0] * other", "grads[i] * other[i]", ["other"]),
        ("grad.to(self.scalar_type())", "grads[i].to(self[i].scalar_type())", ["self"]),
    ],
)
def test_elements_of_lists_are_asked_for_what_tensors_are(written: str, formula: str, kept: Sequence[str]) -> None:
    (info,) = autograd_of(f"- name: mul.Tensor(Tensor self, Tensor other) -> Tensor\n  self: {written}\n").list_infos
    assert [d.formula for d in info.derivatives] == [formula]
    saved = (*info.all_saved_inputs, *info.all_saved_outputs)
    assert [(one.name, one.expr, one.nctype.type) for one in saved] == [(name, name, TENSOR_LIST) for name in kept]


def test_grad_means_that_the_first_result_alone_is_differentiable() -> None:
    schema = "pair(Tensor self, Tensor? other, int dim) -> (Tensor values, Tensor indices, int n)"
    for formula, names in (("f(grad)", ["values"]), ("f(grads[0])", ["values", "indices"])):
        program = autograd_of(f"- name: {schema}\n  self: {formula}\n")
        (pair,) = [one for one in program.functions if one.info is not None]
        assert [output.name for output in gen_differentiable_outputs(pair)] == names


def test_parameters_are_named_as_the_schema_names_them() -> None:
    info = _one("- name: neg(Tensor self) -> Tensor\n  self: -grad\n", "neg")
    (binding,) = info.args_with_derivatives
    assert binding.nctype.type == CONST_TENSOR
