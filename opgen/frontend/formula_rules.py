"""Rules for the formulas of an entry in derivatives.yaml; each breach is one diagnostic.

derivatives.yaml:7:21: error: unknown variable 'ohter' [unknown-variable]
    7 |   self: grad * ohter
      |                ^^^^^ did you mean 'other'?
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import identifiers, is_foreach_func
from opgen.api.types import Binding, NamedCType, SpecialArgName, TypePolicy
from opgen.diagnostics import Diagnostic, Note, Span, did_you_mean
from opgen.frontend.formulas import (
    FormulaProblem,
    find_concrete_sizes,
    find_foreign_strides,
    find_problems,
    find_word,
    used_gradient_indices,
)
from opgen.frontend.forward_formulas import AUTO_ELEMENT_WISE, AUTO_LINEAR
from opgen.frontend.nodes import Scalar
from opgen.model import Argument, NativeFunction, SelfArgument, Type
from opgen.values import dataclass

_MASK: Final = "grad_input_mask"
_ALWAYS_KNOWN: Final = frozenset({"grad", "grads", _MASK, "retain_variables"})
NON_DIFFERENTIABLE: Final = "non_differentiable"
"""What stands for the formula of an argument that has no gradient."""
RESULT: Final = "result"
"""What the result of an operator is called that has one without a name."""


@dataclass(frozen=True, slots=True)
class Named:
    """An argument or a result, where an entry names it."""

    text: str
    span: Span
    is_result: bool


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula and what it is for."""

    key: Scalar
    names: tuple[Named, ...]
    var_names: tuple[str, ...]
    value: Scalar

    def span(self, start: int, end: int) -> Span:
        """Where some characters of the formula were written."""
        return self.value.span_at(start, end)

    def span_of(self, word: str) -> Span:
        """Where a word of the formula was written."""
        return self.span(*find_word(self.value.text, word))


@dataclass(frozen=True, slots=True)
class Operator:
    """What the formulas of an entry may speak of."""

    function: NativeFunction
    bindings: tuple[Binding, ...]
    """The parameters of the C++ function: tensor options are one."""
    arguments: tuple[str, ...]
    """The parameters' names."""
    inputs: tuple[NamedCType, ...]
    """What can be kept of the arguments."""
    outputs: tuple[NamedCType, ...]
    """What can be kept of the results."""
    results: Mapping[str, Type]
    """The results by the names that an entry may use."""
    differentiable: tuple[bool, ...]
    """Which results may have a gradient, as far as the entry and their types say."""
    is_stated: bool
    """Whether the entry says so."""
    conditions: tuple[str, ...] | None
    """C++ conditions under which the results are differentiable, if the entry has such."""
    named_gradients: tuple[str, ...]
    """The gradients that formulas may name."""

    @staticmethod
    def of(
        function: NativeFunction, stated: tuple[bool, ...] | None = None, conditions: tuple[str, ...] | None = None
    ) -> Operator:
        """What formulas may speak of, given which results the entry says are differentiable."""
        returns = function.func.returns
        names = _result_names(function)
        policy = TypePolicy.from_function(function)
        bindings = cpp.arguments(function.func.arguments, faithful=False, symint=True, method=False, policy=policy)
        types = [cpp.return_type(returned).remove_const_ref() for returned in returns]
        differentiable = stated or tuple(returned.type.is_tensor_like() for returned in returns)
        return Operator(
            function=function,
            bindings=bindings,
            arguments=tuple(binding.name for binding in bindings),
            inputs=tuple(_by_value(binding) for binding in bindings),
            outputs=tuple(NamedCType(name, ctype) for name, ctype in zip(names, types, strict=True)),
            results={name: returned.type for name, returned in zip(names, returns, strict=True)},
            differentiable=differentiable,
            is_stated=stated is not None,
            conditions=conditions,
            named_gradients=tuple(
                f"grad_{name}"
                for name, returned, wanted in zip(names, returns, differentiable, strict=True)
                if wanted and returned.name
            ),
        )

    def type_of(self, name: str) -> Type | str:
        """The type of an argument."""
        argument = next(binding.argument for binding in self.bindings if binding.name == name)
        if isinstance(argument, SelfArgument):
            return argument.argument.type
        return argument.type if isinstance(argument, Argument) else "TensorOptions"

    def is_tensor(self, name: str) -> bool:
        """Whether an argument is a tensor, or made of such."""
        found = self.type_of(name)
        return isinstance(found, Type) and found.is_tensor_like()


def _result_names(function: NativeFunction) -> tuple[str, ...]:
    """What formulas call the results; an in-place operator's is not `self`, which is what was before."""
    return (RESULT,) if function.func.name.name.inplace else cpp.return_names(function)


def _by_value(binding: Binding) -> NamedCType:
    name = binding.name if isinstance(binding.nctype.name, SpecialArgName) else binding.nctype.name
    return NamedCType(name, binding.nctype.type.remove_const_ref())


# -------------------------------------------------------------------------------- one formula


def check_backward(formula: Formula, operator: Operator) -> Iterator[Diagnostic]:
    """What is wrong with a formula for gradients."""
    text = formula.value.text
    values = frozenset((*operator.arguments, *operator.results))
    known = values | _ALWAYS_KNOWN | frozenset(operator.named_gradients) | _foreach_names(operator)
    problems = [
        *find_problems(text, known),
        *find_concrete_sizes(text, values),
        *find_foreign_strides(text, values, formula.var_names),
    ]
    for problem in problems:
        yield _diagnostic(problem, formula, _explain_gradient(problem, formula, operator))
    if len(formula.var_names) == 1 and _MASK in identifiers(text) and _MASK not in operator.arguments:
        message = f"'{_MASK}' is for formulas that give several gradients"
        label = f"this one is for '{formula.var_names[0]}' alone, and only computed where that is wanted"
        yield Diagnostic("mask-of-one", message, formula.span_of(_MASK), label)


def check_forward(formula: Formula, operator: Operator) -> Iterator[Diagnostic]:
    """What is wrong with a formula for tangents."""
    text = formula.value.text
    if text in (AUTO_LINEAR, AUTO_ELEMENT_WISE):
        return
    tensors = [name for name in operator.arguments if operator.is_tensor(name)]
    original = ("original_self_p", "original_self_t") if operator.function.func.name.name.inplace else ()
    values = (f"{tensor}_{suffix}" for tensor in tensors for suffix in "pt")
    arguments = (argument.name for argument in operator.function.func.arguments.flat_all)
    known = frozenset((*arguments, *operator.results, *values, *original))
    for problem in find_problems(text, known | _foreach_names(operator)):
        yield _diagnostic(problem, formula, _nearest_word(problem, formula, (AUTO_LINEAR, AUTO_ELEMENT_WISE)))


def _foreach_names(operator: Operator) -> frozenset[str]:
    """The index with which formulas of operators on lists take one tensor of each."""
    return frozenset({"i"}) if is_foreach_func(operator.function) else frozenset()


def _diagnostic(problem: FormulaProblem, formula: Formula, label: str) -> Diagnostic:
    span = formula.span(problem.start, problem.end)
    notes: tuple[Note, ...] = ()
    eaten = formula.value.eaten_comment()
    if problem.id == "unbalanced-formula" and eaten is not None:
        notes = (Note("' #' starts a comment in YAML: quote the formula", eaten),)
    return Diagnostic(problem.id, problem.message, span, label, notes)


def _explain_gradient(problem: FormulaProblem, formula: Formula, operator: Operator) -> str:
    """The label of a problem; for the gradient of a result that has none, why it has none."""
    word = formula.value.text[problem.start : problem.end]
    if problem.id == "unknown-variable" and word.startswith("grad_") and word[5:] in operator.results:
        return f"'{word[5:]}' is not differentiable"
    return _nearest_word(problem, formula, (NON_DIFFERENTIABLE,))


def _nearest_word(problem: FormulaProblem, formula: Formula, words: Collection[str]) -> str:
    """The label of a problem; for a formula that is a single word, one of `words` if that is near."""
    is_all = problem.id == "unknown-variable" and problem.end - problem.start == len(formula.value.text)
    return (did_you_mean(formula.value.text, words) if is_all else "") or problem.label


# --------------------------------------------------------------------------- formulas together


def check_gradients(formulas: Collection[Formula], operator: Operator) -> Iterator[Diagnostic]:
    """Which gradients the formulas of an entry use, and whether they do so in one way."""
    count = sum(operator.differentiable)
    first: dict[str, tuple[str, Formula]] = {}
    for formula in formulas:
        yield from _check_indices(formula, count, operator)
        for word in _gradient_words(formula, operator):
            first.setdefault(_way(word), (word, formula))
            other = next((way for way in first if way != _way(word)), None)
            if other is not None:
                yield _mixed_ways(formula, word, *first[other])
                return
            if word == "grad" and operator.is_stated and count > 1:
                yield _ambiguous(formula, operator)
                return


def _gradient_words(formula: Formula, operator: Operator) -> list[str]:
    """The words for gradients that a formula uses."""
    words = identifiers(formula.value.text).difference(operator.arguments)
    return [word for word in ("grad", "grads", *operator.named_gradients) if word in words]


def _way(word: str) -> str:
    return word if word in ("grad", "grads") else "grad_<name>"


def _mixed_ways(formula: Formula, word: str, other: str, before: Formula) -> Diagnostic:
    message = f"the formulas of one operator use '{_way(other)}' or '{_way(word)}', not both"
    note = Note(f"'{other}' is used here", before.span_of(other))
    return Diagnostic("mixed-gradients", message, formula.span_of(word), "write all in one way", (note,))


def _ambiguous(formula: Formula, operator: Operator) -> Diagnostic:
    count = sum(operator.differentiable)
    message = f"'grad' doesn't say which of {count} differentiable results it is the gradient of"
    label = f"write 'grads[0]' to 'grads[{count - 1}]'"
    if operator.named_gradients:
        label += f", or {', '.join(operator.named_gradients)}"
    return Diagnostic("ambiguous-gradient", message, formula.span_of("grad"), label)


def _check_indices(formula: Formula, count: int, operator: Operator) -> Iterator[Diagnostic]:
    if is_foreach_func(operator.function) or _returns_list(operator):
        return
    for start, end, index in used_gradient_indices(formula.value.text):
        if index >= count:
            name = operator.function.func.name
            results = "1 differentiable result" if count == 1 else f"{count} differentiable results"
            label = f"the last is 'grads[{count - 1}]'" if count else ""
            message = f"there is no 'grads[{index}]': '{name}' has {results}"
            yield Diagnostic("gradient-index", message, formula.span(start, end), label)


def _returns_list(operator: Operator) -> bool:
    return any(returned.type.is_list_like() is not None for returned in operator.function.func.returns)
