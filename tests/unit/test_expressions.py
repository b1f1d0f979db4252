"""What is one C++ expression, and what is said of a text that isn't."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.frontend.expressions import find_syntax_error

VALUES = st.sampled_from(["grad", "x", "2", "1e-3f", '"a;b"', "'c'", "at::Tensor()", "f(x, {1, 2}, {})", "grads[0]"])
EXPRESSIONS = st.recursive(
    VALUES,
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds("- {}".format, inner),
        st.builds("!{}".format, inner),
        st.builds("{} {} {}".format, inner, st.sampled_from(["+", "*", "<<", "&&", "<", "!=", "and"]), inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("static_cast<std::vector<int64_t>>({})".format, inner),
        st.builds("g<Tensor, 2>({}, {})".format, inner, inner),
        st.builds("x.mul({}).y->sum<double>()".format, inner),
        st.builds("[&](auto z) {{ auto y = {}; return y; }}({})".format, inner, inner),
        st.builds("std::array<bool, 2>{{{}, {}}}".format, inner, inner),
        st.builds("(int64_t) ({})".format, inner),
        st.builds("/* why */ {}".format, inner),
    ),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS)
def test_expressions_are_accepted(text: str) -> None:
    assert find_syntax_error(text) is None


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS, EXPRESSIONS, st.sampled_from(["; ", " ", " = ", ", ", " // ", " @ ", " )", " \0"]))
def test_two_expressions_are_none(first: str, second: str, between: str) -> None:
    if between == " ":
        between = " 1 x "  # `a -b` and `f (b)` are expressions
    assert find_syntax_error(first + between + second) is not None


@settings(max_examples=200, deadline=None)
@given(EXPRESSIONS, st.sampled_from([" +", " ?", " .", "->", "::", " (", " [", " {", " <", " ? x :"]))
def test_an_unfinished_expression_is_none(text: str, operator: str) -> None:
    if operator == "." and text[-1].isdigit():
        operator = " ."  # `2.` is a number
    assert find_syntax_error(text + operator) is not None


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=40))
def test_any_text_has_an_answer_within_its_bounds(text: str) -> None:
    problem = find_syntax_error(text)
    assert problem is None or 0 <= problem.start <= problem.end <= len(text) + 1


def test_all_formulas_of_torch_are_expressions(torch_source: Path) -> None:
    path = torch_source.parent / "autograd" / "derivatives.yaml"
    formulas = 0
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
        for keys in (entry, *entry.get("dispatch", {}).values()):
            for key, formula in keys.items():
                if key not in ("name", "dispatch", "output_differentiability", "handles_complex"):
                    assert find_syntax_error(formula) is None, formula
                    formulas += 1
    assert formulas > 1000


@pytest.mark.parametrize("part", ["/*", "(", "a<", '"\\', "a?", "[&]{", "<>", "a(<", "'", 'R"('])
def test_long_and_deep_texts_take_no_longer_by_character(part: str) -> None:
    assert find_syntax_error(part * 5_000) is not None
