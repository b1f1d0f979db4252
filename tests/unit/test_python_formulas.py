"""Formulas in C++ that Python can say too, and those that it can't."""

from __future__ import annotations

from pathlib import Path

import pytest
from expecttest import assert_expected_inline

from opgen.frontend.python_formulas import (
    FormulaScope,
    UntranslatableError,
    find_python_problems,
    qualify_operators,
    translate_formula,
)
from opgen.frontend.torch_functions import TorchFunctions
from opgen.model import FunctionSchema

DEFINITIONS = Path(__file__).parents[2] / "opgen" / "packaged" / "ATen" / "native" / "native_functions.yaml"
OWN = FunctionSchema.parse("ratio_backward(Tensor grad, Tensor x, *, float scale=1) -> Tensor")
SCOPE = FormulaScope(
    values={"grad", "grads", "self", "other", "scale", "n", "flag", "weight", "result", "lambda"},
    integers={"n"},
    namespace="mylib",
    operators={"ratio_backward": [OWN]},
    torch=TorchFunctions(DEFINITIONS),
)


def _translated(*formulas: str) -> str:
    lines = []
    for formula in formulas:
        try:
            lines.append(translate_formula(formula, SCOPE))
        except UntranslatableError as problem:
            lines.append(f"{formula[problem.start : problem.end]!r} {problem.reason}")
    return "\n".join(lines)


def test_operators_keep_their_meaning() -> None:
    found = _translated(
        "grad * scale",
        "(grad - (self - other)) / scale",
        "grad - self - other",
        "-grad * -(self + other)",
        "!flag && n > 2 || n == 0",
        "!(n == 1)",
        "(n < 2) == flag",
        "n & 1",
        "(n & 1) == 0",
        "flag ? grad : flag ? self : other",
        "self * (n > 1 ? 2 : 3)",
    )
    assert_expected_inline(
        found,
        """\
grad * scale
(grad - (self - other)) / scale
grad - self - other
-grad * -(self + other)
not flag and n > 2 or n == 0
not (n == 1)
(n < 2) == flag
n & 1
(n & 1) == 0
grad if flag else self if flag else other
self * (2 if n > 1 else 3)""",
    )


def test_members_and_constants() -> None:
    found = _translated(
        "grad.expand(self.sym_sizes())",
        "grad / self.sym_size(0)",
        "weight.defined() ? grad * weight : grad",
        "weight.has_value() ? grad * *weight : grad",
        "weight->dim() > 1",
        "grad.to(self.scalar_type())",
        "grad.to(at::kDouble)",
        "std::max(n, 2)",
        "std::get<1>(grads[0])",
        "Tensor()",
        "std::nullopt",
        "0x10 + 1'000 + 1.5f + .5",
        "lambda * grad",
    )
    assert_expected_inline(
        found,
        """\
grad.expand(self.shape)
grad / self.shape[0]
grad * weight if weight is not None else grad
grad * weight if weight is not None else grad
weight.dim() > 1
grad.to(dtype=self.dtype)
grad.to(dtype=torch.float64)
_builtins.max(n, 2)
grads[0][1]
None
None
0x10 + 1_000 + 1.5 + .5
lambda_ * grad""",
    )


def test_calls() -> None:
    found = _translated(
        "at::sum(grad, 0)",
        "at::add(grad, other, 2)",
        "grad.add(other, scale)",
        "grad.sum({0, 1}, true)",
        "where(self > 0, grad, zeros_like(grad))",
        "ratio_backward(grad, self, 3.)",
        "mylib::ratio_backward(grad, self)",
        'not_implemented("ratio")',
    )
    assert_expected_inline(
        found,
        """\
_aten.sum(grad, 0)
_aten.add(grad, other, alpha=2)
grad.add(other, alpha=scale)
grad.sum([0, 1], True)
_aten.where(self > 0, grad, _aten.zeros_like(grad))
_ops.ratio_backward(grad, self, scale=3.)
_ops.ratio_backward(grad, self)
_not_implemented("ratio")""",
    )


def test_what_python_says_otherwise_is_refused() -> None:
    found = _translated(
        "grad * (n / 2)",
        "n % 2",
        "self.numel() / n",
        "grad.zeros(self.options())",
        "at::ones({2}, grad.options())",
        "helper(grad)",
        "other::helper(grad)",
        "static_cast<double>(n)",
        "[](auto x) { return x; }(grad)",
        "unknown",
        "grad * 010",
        "at::mul(grad, 2, 3)",
        "'c'",
        "(int64_t) scale",
    )
    assert_expected_inline(
        found,
        """\
'/' of integers rounds differently in Python
'%' of integers rounds differently in Python
'/' of integers rounds differently in Python
'options' is not a method of tensors in Python
'options' is not a method of tensors in Python
'helper' is not an operator of torch or of the library
'helper' is not an operator of torch or of the library
'static_cast' has template arguments
'[' isn't an expression of Python
'unknown' has no known equivalent in Python
'010' is not a number in Python
'mul' takes no such arguments
"'c'" is not a string in Python
'int64_t' has no known equivalent in Python""",
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("grad * sum(x for x in grads)", []),
        ("(lambda t: t * scale)(grad)", []),
        ("torch.where(self > 0, grad, 0)", []),
        (" grad * othr", ["unknown variable 'othr' at 8"]),
        ("grad if", ["this isn't valid Python: "]),
    ],
)
def test_formulas_in_python_are_checked(text: str, found: list[str]) -> None:
    known = {"grad", "grads", "self", "other", "scale"}
    problems = [f"{problem.message} at {problem.start}" for problem in find_python_problems(text, known)]
    # What Python says of syntax depends on its version.
    assert [problem[: len(start)] for problem, start in zip(problems, found, strict=True)] == found


def test_own_operators_are_called_where_they_are() -> None:
    text = "ratio_backward(grad, ratio_backward(grad, self)) + x.ratio_backward"
    expected = "_ops.ratio_backward(grad, _ops.ratio_backward(grad, self)) + x.ratio_backward"
    assert qualify_operators(text, {"ratio_backward"}) == expected
