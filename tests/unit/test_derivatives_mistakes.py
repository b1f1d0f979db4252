"""What is said of mistakes in derivatives.yaml: where, what is wrong, and the mend."""

# ruff: noqa: E501  what is said can be long
from __future__ import annotations

from expecttest import TestCase

from tests.unit.tiny_derivatives import derivatives_of

NEG = "neg(Tensor self) -> Tensor"
MUL = "mul.Tensor(Tensor self, Tensor other) -> Tensor"
PAIR = "pair(Tensor self, Tensor? other, int dim) -> (Tensor values, Tensor indices, int n)"


def said_of(*lines: str) -> str:
    """What is said of an entry, given as lines."""
    return derivatives_of("\n".join(lines) + "\n")[1]


class TestMistakes(TestCase):  # type: ignore[misc]  # expecttest has no types
    def test_no_such_operator(self) -> None:
        self.assertExpectedInline(
            said_of("- name: nge(Tensor self) -> Tensor", "  self: -grad"),
            """\
derivatives.yaml:1:9: error: there is no operator 'nge' [unknown-operator]
    1 | - name: nge(Tensor self) -> Tensor
      |         ^^^ did you mean 'neg'?
ops.yaml:2:9: note: 'neg(Tensor self) -> Tensor' is here
    2 | - func: neg(Tensor self) -> Tensor
      |         ^^^
1 error
""",
        )

    def test_another_schema(self) -> None:
        self.assertExpectedInline(
            said_of("- name: neg(Tensor input) -> Tensor", "  input: -grad"),
            """\
derivatives.yaml:1:20: error: 'neg' has a different schema [schema-mismatch]
    1 | - name: neg(Tensor input) -> Tensor
      |                    ^^^^^ write 'neg(Tensor self) -> Tensor'
ops.yaml:2:9: note: 'neg' is here
    2 | - func: neg(Tensor self) -> Tensor
      |         ^^^
1 error
""",
        )

    def test_schema_that_cannot_be_read(self) -> None:
        self.assertExpectedInline(
            said_of("- name: neg(Tenosr self) -> Tensor", "  self: -grad"),
            """\
derivatives.yaml:1:13: error: unknown type 'Tenosr' [unknown-type]
    1 | - name: neg(Tenosr self) -> Tensor
      |             ^^^^^^ did you mean 'Tensor'?
1 error
""",
        )

    def test_no_such_argument(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  slef: -grad"),
            """\
derivatives.yaml:2:3: error: 'neg' has no argument and no result 'slef' [unknown-argument]
    2 |   slef: -grad
      |   ^^^^ did you mean 'self'? (one of: self, result)
1 error
""",
        )

    def test_misspelt_word(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  output_diferentiability: [False]"),
            """\
derivatives.yaml:2:3: error: unknown key 'output_diferentiability' in the derivatives of 'neg' [unknown-key]
    2 |   output_diferentiability: [False]
      |   ^^^^^^^^^^^^^^^^^^^^^^^ did you mean 'output_differentiability'?
1 error
""",
        )

    def test_name_given_twice(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {MUL}", "  self, other: f(grad)", "  other: grad"),
            """\
derivatives.yaml:3:3: error: 'other' already has a formula [duplicate-derivative]
    3 |   other: grad
      |   ^^^^^
derivatives.yaml:2:9: note: first given here
    2 |   self, other: f(grad)
      |         ^^^^^
1 error
""",
        )

    def test_entry_given_twice(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: -grad", f"- name: {NEG}", "  self: grad"),
            """\
derivatives.yaml:3:9: error: 'neg' already has derivatives [duplicate-derivatives]
    3 | - name: neg(Tensor self) -> Tensor
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^
derivatives.yaml:1:9: note: first given here
    1 | - name: neg(Tensor self) -> Tensor
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^
1 error
""",
        )

    def test_argument_that_has_no_gradient(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  self: f(grad)", "  dim: grad"),
            """\
derivatives.yaml:3:3: error: the argument 'dim' can't have a gradient: its type is 'int' [not-differentiable]
    3 |   dim: grad
      |   ^^^ only tensors and lists of tensors can
1 error
""",
        )

    def test_gradient_past_the_last_result(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  self: f(grads[0], grads[2])"),
            """\
derivatives.yaml:2:21: error: there is no 'grads[2]': 'pair' has 2 differentiable results [gradient-index]
    2 |   self: f(grads[0], grads[2])
      |                     ^^^^^^^^ the last is 'grads[1]'
1 error
""",
        )

    def test_wrong_length(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  output_differentiability: [True, False]", "  self: f(grad)"),
            """\
derivatives.yaml:2:29: error: 'pair' has 3 results, but this list has 2 [differentiability-length]
    2 |   output_differentiability: [True, False]
      |                             ^^^^^^^^^^^^^ write one value for each, as in '[True, True, False]'
ops.yaml:10:9: note: 'pair' is here
   10 | - func: pair(Tensor self, Tensor? other, int dim) -> (Tensor values, Tensor indices, int n)
      |         ^^^^
1 error
""",
        )

    def test_integer_that_is_differentiable(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  output_differentiability: [True, False, True]", "  self: f(grad)"),
            """\
derivatives.yaml:2:43: error: the result 'n' can't be differentiable: its type is 'int' [not-differentiable]
    2 |   output_differentiability: [True, False, True]
      |                                           ^^^^ write 'False'
1 error
""",
        )

    def test_grad_of_several_results(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  output_differentiability: [True, True, False]", "  self: f(grad)"),
            """\
derivatives.yaml:3:11: error: 'grad' doesn't say which of 2 differentiable results it is the gradient of [ambiguous-gradient]
    3 |   self: f(grad)
      |           ^^^^ write 'grads[0]' to 'grads[1]', or grad_values, grad_indices
1 error
""",
        )

    def test_gradients_named_in_two_ways(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  self: f(grads[0])", "  other: f(grad_values)"),
            """\
derivatives.yaml:3:12: error: the formulas of one operator use 'grads' or 'grad_<name>', not both [mixed-gradients]
    3 |   other: f(grad_values)
      |            ^^^^^^^^^^^ use one of the two everywhere
derivatives.yaml:2:11: note: 'grads' is used here
    2 |   self: f(grads[0])
      |           ^^^^^
1 error
""",
        )

    def test_gradient_of_a_result_that_has_none(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  output_differentiability: [True, False, False]", "  self: f(grad_indices)"),
            """\
derivatives.yaml:3:11: error: unknown variable 'grad_indices' [unknown-variable]
    3 |   self: f(grad_indices)
      |           ^^^^^^^^^^^^ 'indices' is not differentiable
1 error
""",
        )

    def test_unknown_variable(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {MUL}", "  self: grad * ohter", "  other: grad"),
            """\
derivatives.yaml:2:16: error: unknown variable 'ohter' [unknown-variable]
    2 |   self: grad * ohter
      |                ^^^^^ did you mean 'other'?
1 error
""",
        )

    def test_unknown_variable_in_a_forward_formula(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: -grad", "  result: f(self_t, selff_p)"),
            """\
derivatives.yaml:3:21: error: unknown variable 'selff_p' [unknown-variable]
    3 |   result: f(self_t, selff_p)
      |                     ^^^^^^^ did you mean 'self_p'?
1 error
""",
        )

    def test_unbalanced_brackets(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: f(grad, (self)"),
            """\
derivatives.yaml:2:10: error: '(' is not closed [unbalanced-formula]
    2 |   self: f(grad, (self)
      |          ^
1 error
""",
        )

    def test_closing_bracket_too_many(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: f(grad))"),
            """\
derivatives.yaml:2:16: error: unmatched ')' [unbalanced-formula]
    2 |   self: f(grad))
      |                ^
1 error
""",
        )

    def test_formula_cut_short_by_a_comment(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: f(grad, #self)"),
            """\
derivatives.yaml:2:10: error: '(' is not closed [unbalanced-formula]
    2 |   self: f(grad, #self)
      |          ^
derivatives.yaml:2:17: note: ' #' starts a comment in YAML: quote the formula
    2 |   self: f(grad, #self)
      |                 ^^^^^^
1 error
""",
        )

    def test_formula_that_yaml_cannot_read(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: self.defined() ? grad : -grad"),
            """\
derivatives.yaml:2:9: error: this value contains ': ', which starts a mapping in YAML [yaml-quote]
    2 |   self: self.defined() ? grad : -grad
      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ quote this value
1 error
""",
        )

    def test_no_formula(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self:"),
            """\
derivatives.yaml:2:3: error: 'self' has no formula [missing-value]
    2 |   self:
      |   ^^^^ write a formula in C++
1 error
""",
        )

    def test_sizes_that_are_not_symbolic(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: grad.expand(self.sizes())"),
            """\
derivatives.yaml:2:21: error: 'self.sizes()' is a plain integer, but the sizes of 'self' may be symbolic [concrete-size]
    2 |   self: grad.expand(self.sizes())
      |                     ^^^^^^^^^^^^ write '.sym_sizes()'
1 error
""",
        )

    def test_strides_of_another(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {MUL}", "  self: f(grad, other.sym_strides())", "  other: grad"),
            """\
derivatives.yaml:2:17: error: only the formula for 'other' alone can use the strides of 'other' [foreign-strides]
    2 |   self: f(grad, other.sym_strides())
      |                 ^^^^^^^^^^^^^^^^^^^ pass 'other' itself
1 error
""",
        )

    def test_forward_formula_that_does_not_follow(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {MUL}", "  self: grad", "  other: grad", "  result: auto_element_wise"),
            """\
derivatives.yaml:4:11: error: 'auto_element_wise' works for operators with one differentiable argument [no-forward-formula]
    4 |   result: auto_element_wise
      |           ^^^^^^^^^^^^^^^^^ write the formula
1 error
""",
        )

    def test_arguments_and_results_in_one_key(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self, result: grad"),
            """\
derivatives.yaml:2:3: error: one formula can't be for both arguments and results [mixed-names]
    2 |   self, result: grad
      |   ^^^^^^^^^^^^ write one formula for each
1 error
""",
        )

    def test_unknown_dispatch_key(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  dispatch:", "    AutogradNestedTenso:", "      self: -grad"),
            """\
derivatives.yaml:3:5: error: 'AutogradNestedTenso' is not a dispatch key for derivatives [unknown-dispatch-key]
    3 |     AutogradNestedTenso:
      |     ^^^^^^^^^^^^^^^^^^^ did you mean 'AutogradNestedTensor'?
1 error
""",
        )

    def test_formula_beside_dispatch(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  dispatch:", "    Default:", "      self: -grad", "  self: grad"),
            """\
derivatives.yaml:5:3: error: with 'dispatch', 'self' belongs under one of its keys [formula-beside-dispatch]
    5 |   self: grad
      |   ^^^^ move it below 'Default:'
1 error
""",
        )

    def test_out_form(self) -> None:
        self.assertExpectedInline(
            said_of("- name: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "  self: -grad"),
            """\
derivatives.yaml:1:9: error: 'neg.out' is an out form, which is never differentiable [out-derivative]
    1 | - name: neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
      |         ^^^^^^^ write the functional form
1 error
""",
        )

    def test_entry_that_is_no_mapping(self) -> None:
        self.assertExpectedInline(
            said_of("- neg"),
            """\
derivatives.yaml:1:3: error: an entry must be a mapping, not text [wrong-kind]
    1 | - neg
      |   ^^^ write keys such as 'name: ...' and 'self: ...'
1 error
""",
        )

    def test_entry_without_name(self) -> None:
        self.assertExpectedInline(
            said_of("- self: -grad"),
            """\
derivatives.yaml:1:3: error: the key 'name' is missing from this entry [missing-key]
    1 | - self: -grad
      |   ^^^^ add 'name: ...'
1 error
""",
        )

    def test_mask_of_one(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  self: f(grad, grad_input_mask)"),
            """\
derivatives.yaml:2:17: error: 'grad_input_mask' is for formulas that give several gradients [mask-of-one]
    2 |   self: f(grad, grad_input_mask)
      |                 ^^^^^^^^^^^^^^^ this one is for 'self' alone, and is computed only if its gradient is needed
1 error
""",
        )

    def test_condition_on_what_is_not_there(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {NEG}", "  output_differentiability: ['selff.defined()']", "  self: grad"),
            """\
derivatives.yaml:2:31: error: unknown variable 'selff' [unknown-variable]
    2 |   output_differentiability: ['selff.defined()']
      |                               ^^^^^ did you mean 'self'?
1 error
""",
        )

    def test_several_conditions(self) -> None:
        self.assertExpectedInline(
            said_of(f"- name: {PAIR}", "  output_differentiability: ['a', 'b', False]", "  self: f(grad)"),
            """\
derivatives.yaml:2:30: error: only an operator with one result can have a condition [several-conditions]
    2 |   output_differentiability: ['a', 'b', False]
      |                              ^^^ write 'True' or 'False'
1 error
""",
        )

    def test_all_mistakes_are_said_at_once(self) -> None:
        said = said_of(
            "- name: nge(Tensor self) -> Tensor", f"- name: {NEG}", "  self: grad * slef", "  resutl: self_t"
        )
        self.assertExpectedInline(
            said,
            """\
derivatives.yaml:1:9: error: there is no operator 'nge' [unknown-operator]
    1 | - name: nge(Tensor self) -> Tensor
      |         ^^^ did you mean 'neg'?
ops.yaml:2:9: note: 'neg(Tensor self) -> Tensor' is here
    2 | - func: neg(Tensor self) -> Tensor
      |         ^^^
derivatives.yaml:3:16: error: unknown variable 'slef' [unknown-variable]
    3 |   self: grad * slef
      |                ^^^^ did you mean 'self'?
derivatives.yaml:4:3: error: 'neg' has no argument and no result 'resutl' [unknown-argument]
    4 |   resutl: self_t
      |   ^^^^^^ did you mean 'result'? (one of: self, result)
3 errors
""",
        )
