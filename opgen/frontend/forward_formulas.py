"""A forward formula of derivatives.yaml → the formula for a result's tangent.

In a forward formula `x_p` is the value of the argument `x` and `x_t` its tangent.  Two keywords
request derived formulas:

    auto_linear         the operator applied to tangents:          at::diagonal(self_t, offset, dim1, dim2)
    auto_element_wise   the backward formula for the tangent:      (self_t.conj() * self_p.cos().conj()).conj()
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import ForwardDerivative, identifiers, is_foreach_func, replace_words
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, Type, Variant

AUTO_LINEAR: Final = "auto_linear"
AUTO_ELEMENT_WISE: Final = "auto_element_wise"


class ForwardProblem(Exception):
    """A formula can't be derived; the message has the reason."""


@dataclass(frozen=True, slots=True)
class Backward:
    """The values that forward formulas are derived from."""

    function: NativeFunction
    arguments: tuple[str, ...]
    """The operator's arguments, as formulas name them."""
    differentiated: tuple[str, ...]
    """The arguments that have a backward formula."""
    formulas: tuple[str, ...]
    """The backward formulas, as spelled in the file."""
    constant: frozenset[str] = frozenset()
    """The arguments that are `non_differentiable`."""


def derive_forward(
    formula: str,
    words: Container[str],
    var_names: tuple[str, ...],
    var_types: tuple[Type, ...],
    backward: Backward,
) -> ForwardDerivative:
    """Return the tangents of the results `var_names`; raises `ForwardProblem` if they can't be derived.

    `words` are all words of the formula.
    """
    if formula == AUTO_LINEAR:
        text = _apply_to_tangents(backward)
        return ForwardDerivative(text, var_names, var_types, backward.differentiated, (), is_linear=True)
    used = backward.arguments
    lists = _lists(backward.function)
    if formula == AUTO_ELEMENT_WISE:
        formula = _transpose(backward)
        words = identifiers(formula)
        # All arguments are candidates; those without a tangent are dropped later.
        used = tuple([name for name in used if name not in lists])
        return ForwardDerivative(formula, var_names, var_types, used, suffixed(used, "_p", words))
    for name in sorted(lists):
        if f"{name}_t" in words or f"{name}_p" in words:
            raise ForwardProblem(f"a formula can't use tangents of '{name}', which is a list")
    for name in sorted(backward.constant):
        if f"{name}_t" in words or f"{name}_p" in words:
            raise ForwardProblem(f"a formula can't use tangents of '{name}', which is non_differentiable")
    return ForwardDerivative(formula, var_names, var_types, suffixed(used, "_t", words), suffixed(used, "_p", words))


def _lists(function: NativeFunction) -> frozenset[str]:
    """Return the arguments that are lists, of whose tangents formulas are only for operators on lists."""
    if is_foreach_func(function):
        return frozenset()
    arguments = function.func.arguments.flat_all
    return frozenset([a.name for a in arguments if a.type.is_tensor_like() and a.type.is_list_like() is not None])


def _check_no_lists(backward: Backward, word: str) -> None:
    for name in backward.differentiated:
        if name in _lists(backward.function):
            raise ForwardProblem(f"'{word}' works for operators on tensors, and '{name}' is a list")


def suffixed(names: Sequence[str], suffix: str, words: Container[str]) -> tuple[str, ...]:
    """Return those of `names` that are among the `words` with the suffix."""
    return tuple([name for name in names if name + suffix in words])


def _apply_to_tangents(backward: Backward) -> str:
    """Return a call of the operator with tangents in place of its differentiable arguments."""
    function = backward.function
    if len(function.func.returns) > 1:
        raise ForwardProblem(f"'{AUTO_LINEAR}' works for operators with one result")
    if not backward.differentiated:
        raise ForwardProblem(f"'{AUTO_LINEAR}' needs an argument that has a gradient")
    _check_no_lists(backward, AUTO_LINEAR)
    values = [
        f"{argument.name}_t" if argument.name in backward.differentiated else argument.name
        for argument in function.func.arguments.flat_non_out
    ]
    name = cpp.name(function.func, symint_overload=function.func.has_symint())
    if Variant.function in function.variants:
        home = "at" if function.namespace == "aten" else f"::{function.namespace}"
        return f"{home}::{name}({', '.join(values)})"
    return f"{values[0]}.{name}({', '.join(values[1:])})"


def _transpose(backward: Backward) -> str:
    """Return the backward formula applied to the conjugated tangent instead of the gradient, conjugated."""
    if len(backward.differentiated) != 1:
        raise ForwardProblem(f"'{AUTO_ELEMENT_WISE}' works for operators with one differentiable argument")
    if len(backward.function.func.returns) != 1 or len(backward.formulas) != 1:
        raise ForwardProblem(f"'{AUTO_ELEMENT_WISE}' works for operators with one result and one formula")
    _check_no_lists(backward, AUTO_ELEMENT_WISE)
    (name,), (formula,) = backward.differentiated, backward.formulas
    named = {f"grad_{returned.name}" for returned in backward.function.func.returns if returned.name}
    others = sorted(identifiers(formula) & ({"grads", "retain_variables"} | named) - set(backward.arguments))
    if others:
        raise ForwardProblem(f"'{AUTO_ELEMENT_WISE}' needs a formula that uses 'grad', not '{others[0]}'")
    return f"({replace_words(formula, {'grad': f'{name}_t.conj()', name: f'{name}_p'})}).conj()"
