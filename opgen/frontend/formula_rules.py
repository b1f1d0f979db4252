"""The formulas of an entry in derivatives.yaml → a diagnostic for each rule that they break.

derivatives.yaml:7:21: error: unknown variable 'ohter' [unknown-variable]
    7 |   self: grad * ohter
      |                ^^^^^ did you mean 'other'?
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import FormulaPlace, is_foreach_func
from opgen.api.types import Binding, NamedCType, SpecialArgName, TypePolicy
from opgen.diagnostics import Diagnostic, Note, Span, did_you_mean
from opgen.frontend.cpp_names import KEYWORDS
from opgen.frontend.expressions import find_syntax_error
from opgen.frontend.formulas import (
    FormulaProblem,
    find_concrete_sizes,
    find_foreign_strides,
    find_problems,
    find_word,
    used_indices,
)
from opgen.frontend.forward_formulas import AUTO_ELEMENT_WISE, AUTO_LINEAR
from opgen.frontend.nodes import Scalar
from opgen.frozen_dataclass import dataclass
from opgen.model import Argument, NativeFunction, Return, SelfArgument, Type

_MASK: Final = "grad_input_mask"
_PREDEFINED_NAMES: Final = frozenset({"grad", "grads", _MASK, "retain_variables"})
_CONCRETE: Final = frozenset({"size", "sizes", "strides"})
"""Methods that lose symbolic sizes."""
NON_DIFFERENTIABLE: Final = "non_differentiable"
"""The formula of an argument that has no gradient."""
RESULT: Final = "result"
"""The name of a single result without a name."""


@dataclass(frozen=True, slots=True)
class NamedValue:
    """A mention of an argument or a result in a key of an entry."""

    text: str
    key: Scalar
    """The key that mentions it."""
    start: int
    """Offset of its first character there."""
    is_result: bool

    @property
    def span(self) -> Span:
        """Its span."""
        return self.key.span_at(self.start, self.start + len(self.text))


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula and the arguments or results that it is for."""

    key: Scalar
    var_names: tuple[str, ...]
    value: Scalar
    words: frozenset[str]
    """All words of the formula."""

    def span(self, start: int, end: int) -> Span:
        """Return the span of the characters `start` to `end`."""
        return self.value.span_at(start, end)

    @property
    def whole(self) -> Span:
        """The span of the whole formula."""
        return self.span(0, len(self.value.text))

    def span_of(self, word: str) -> Span:
        """Return the span of the first occurrence of a word."""
        return self.span(*find_word(self.value.text, word))


@dataclass(frozen=True, slots=True)
class FormulaNames:
    """The names that the formulas of an entry may use."""

    function: NativeFunction
    parameters: Mapping[str, Binding]
    """The parameters of the C++ function by name: tensor options are one."""
    results: Mapping[str, Return]
    """The results by the names that an entry may use."""
    stated: tuple[bool, ...] | None
    """Which results are differentiable; None if the entry doesn't specify it."""
    conditions: tuple[str, ...] | None
    """C++ conditions under which the results are differentiable, if any."""
    condition_place: FormulaPlace | None
    """The location of the condition; None for torch's operators, whose files have no `#line` directives."""
    named_gradients: tuple[str, ...]
    """The gradients that formulas may name."""
    values: frozenset[str]
    """The names of parameters and results."""
    known: frozenset[str]
    """All names that formulas for gradients may use."""

    @staticmethod
    def of(
        function: NativeFunction,
        stated: tuple[bool, ...] | None = None,
        conditions: tuple[str, ...] | None = None,
        condition_place: FormulaPlace | None = None,
    ) -> FormulaNames:
        """Return the names for an operator, given the `output_differentiability` of its entry."""
        func, policy = function.func, TypePolicy.from_function(function)
        bindings = cpp.arguments(func.arguments, faithful=False, symint=True, method=False, policy=policy)
        parameters = {binding.name: binding for binding in bindings}
        results = dict(zip(_result_names(function), func.returns, strict=True))
        named = _named_gradients(results, stated)
        values = frozenset((*parameters, *results))
        return FormulaNames(
            function=function,
            parameters=parameters,
            results=results,
            stated=stated,
            conditions=conditions,
            condition_place=condition_place if function.namespace != "aten" else None,
            named_gradients=named,
            values=values,
            known=values.union(_PREDEFINED_NAMES, named, _foreach_names(function)),
        )

    @property
    def differentiable_count(self) -> int:
        """The number of results that may have a gradient, according to the entry and their types."""
        if self.stated is not None:
            return sum(self.stated)
        return sum(returned.type.is_tensor_like() for returned in self.results.values())

    def saved_inputs(self, words: Container[str]) -> dict[str, NamedCType]:
        """Return the arguments among `words` that can be saved for backward."""
        return {name: _by_value(name, binding) for name, binding in self.parameters.items() if name in words}

    def saved_outputs(self, words: Container[str]) -> dict[str, NamedCType]:
        """Return the results among `words` that can be saved for backward."""
        return {
            name: NamedCType(name, cpp.return_type(returned).remove_const_ref())
            for name, returned in self.results.items()
            if name in words and name not in self.parameters
        }

    def type_of(self, name: str) -> Type | str:
        """Return the type of an argument."""
        argument = self.parameters[name].argument
        if isinstance(argument, SelfArgument):
            return argument.argument.type
        return argument.type if isinstance(argument, Argument) else "TensorOptions"

    def is_tensor(self, name: str) -> bool:
        """Return whether an argument is a tensor, or contains tensors."""
        type = self.type_of(name)
        return isinstance(type, Type) and type.is_tensor_like()


def _named_gradients(results: Mapping[str, Return], stated: tuple[bool, ...] | None) -> tuple[str, ...]:
    """Return the gradients of the differentiable results that the schema names."""
    return tuple(
        [
            f"grad_{name}"
            for index, (name, returned) in enumerate(results.items())
            if returned.name and (returned.type.is_tensor_like() if stated is None else stated[index])
        ]
    )


def _result_names(function: NativeFunction) -> tuple[str, ...]:
    """Return the names of the results in formulas; `self` of an in-place operator is its value before the call."""
    return (RESULT,) if function.func.name.name.inplace else cpp.return_names(function)


def _by_value(name: str, binding: Binding) -> NamedCType:
    saved_name = name if isinstance(binding.nctype.name, SpecialArgName) else binding.nctype.name
    return NamedCType(saved_name, binding.nctype.type.remove_const_ref())


# -------------------------------------------------------------------------------- one formula


def check_backward(formula: Formula, operator: FormulaNames) -> Iterator[Diagnostic]:
    """Yield the errors in a formula for gradients."""
    text, words = formula.value.text, formula.words
    yield from _check_keywords(formula, operator.values)
    for problem in find_problems(text, words, operator.known):
        if text[problem.start : problem.end] not in _keywords(formula, operator.values):
            yield _diagnostic(problem, formula, _explain_gradient(problem, formula, operator))
    if not words.isdisjoint(_CONCRETE):
        for problem in find_concrete_sizes(text, operator.values):
            yield _diagnostic(problem, formula, problem.label)
    if "sym_strides" in words:
        for problem in find_foreign_strides(text, operator.values, formula.var_names):
            yield _diagnostic(problem, formula, problem.label)
    if len(formula.var_names) > 1 and text.strip() in operator.known:
        count, value = len(formula.var_names), text.strip()
        message = f"a formula for {count} arguments computes a tuple, but '{value}' is one value"
        yield Diagnostic("several-gradients", message, formula.value.span, "give each argument a formula of its own")
    if operator.function.namespace != "aten":
        yield from _check_shadowed(formula, operator)
    if _MASK in words and _MASK not in operator.parameters:
        yield from _check_mask(formula)


def _check_mask(formula: Formula) -> Iterator[Diagnostic]:
    """The mask has an element for each gradient that the formula gives, and is for formulas that give several."""
    count = len(formula.var_names)
    if count == 1:
        message = f"'{_MASK}' is for formulas that give several gradients"
        label = f"this one is for '{formula.var_names[0]}' alone, and is computed only if its gradient is needed"
        yield Diagnostic("mask-of-one", message, formula.span_of(_MASK), label)
        return
    for start, end, index in used_indices(formula.value.text, _MASK):
        if index is None or index >= count:
            message = f"a formula for {count} arguments has '{_MASK}[0]' to '{_MASK}[{count - 1}]'"
            label = "one for each argument, in their order"
            yield Diagnostic("gradient-index", message, formula.span(start, end), label)


def _check_shadowed(formula: Formula, operator: FormulaNames) -> Iterator[Diagnostic]:
    """Yield an error if a formula uses no gradient, but an argument with the name of a gradient."""
    gradients = ("grad", "grads", *operator.named_gradients)
    shadowed = [word for word in gradients if word in operator.parameters and word in formula.words]
    real = [word for word in gradients if word not in operator.parameters]
    if shadowed and formula.words.isdisjoint(real):
        word = shadowed[0]
        message = f"'{word}' is an argument of '{operator.function.func.name}', and the formula has no gradient"
        names = [f"{name}[0]" if name == "grads" else name for name in real]
        label = f"write '{names[0]}' for the gradient" if names else "rename the argument"
        yield Diagnostic("shadowed-gradient", message, formula.span_of(word), label)


def check_forward(formula: Formula, operator: FormulaNames) -> Iterator[Diagnostic]:
    """Yield the errors in a formula for tangents."""
    text, arguments = formula.value.text, operator.function.func.arguments.flat_all
    if text in (AUTO_LINEAR, AUTO_ELEMENT_WISE):
        return
    tensors = [argument.name for argument in arguments if argument.type.is_tensor_like()]
    values = [f"{tensor}_{suffix}" for tensor in tensors for suffix in "pt"]
    original = ("original_self_p", "original_self_t") if operator.function.func.name.name.inplace else ()
    names = [argument.name for argument in arguments]
    legal = frozenset((*names, *operator.results, *values, *original, *_foreach_names(operator.function)))
    for word in sorted(formula.words.intersection(names, values)):
        meaning = "tangent" if word.endswith("_t") else "value"
        message = f"'{word}' is an argument, and in this formula also the {meaning} of '{word[:-2]}'"
        yield Diagnostic("shadowed-gradient", message, formula.span_of(word), "rename the argument")
    values_and_results = (*names, *operator.results)
    yield from _check_keywords(formula, values_and_results)
    for problem in find_problems(text, formula.words, legal):
        if text[problem.start : problem.end] not in _keywords(formula, values_and_results):
            yield _diagnostic(problem, formula, _nearest_word(problem, formula, (AUTO_LINEAR, AUTO_ELEMENT_WISE)))


def _check_keywords(formula: Formula, names: Iterable[str]) -> Iterator[Diagnostic]:
    """A word of C++ that is also the name of an argument or a result: the formula can't mean that."""
    for word in sorted(_keywords(formula, names)):
        message = f"'{word}' is an argument or a result, but in a formula it is a keyword of C++"
        yield Diagnostic("cpp-keyword", message, formula.span_of(word), f"rename '{word}' in the schema")


def _keywords(formula: Formula, names: Iterable[str]) -> frozenset[str]:
    """Return the keywords of C++ in a formula that are also names of values."""
    return formula.words.intersection(names) & KEYWORDS


def _foreach_names(function: NativeFunction) -> tuple[str, ...]:
    """Return the loop index that formulas of foreach operators use to index tensor lists."""
    return ("i",) if is_foreach_func(function) else ()


def _diagnostic(problem: FormulaProblem, formula: Formula, label: str) -> Diagnostic:
    span = formula.span(problem.start, problem.end)
    notes: tuple[Note, ...] = ()
    comment = formula.value.trailing_comment()
    if problem.id in ("unbalanced-formula", "formula-syntax") and comment is not None:
        notes = (Note("' #' starts a comment in YAML: quote the formula", comment),)
    return Diagnostic(problem.id, problem.message, span, label, notes)


def _explain_gradient(problem: FormulaProblem, formula: Formula, operator: FormulaNames) -> str:
    """Return the label of a problem; for the gradient of a non-differentiable result, the reason."""
    word = formula.value.text[problem.start : problem.end]
    if problem.id == "unknown-variable" and word.startswith("grad_") and word[5:] in operator.results:
        return f"'{word[5:]}' is not differentiable"
    return _nearest_word(problem, formula, (NON_DIFFERENTIABLE,))


def _nearest_word(problem: FormulaProblem, formula: Formula, words: Collection[str]) -> str:
    """Return the label of a problem; for a formula of one word, the nearest of `words`, if any is near."""
    is_all = problem.id == "unknown-variable" and problem.end - problem.start == len(formula.value.text)
    return (did_you_mean(formula.value.text, words) if is_all else "") or problem.label


# --------------------------------------------------------------------------- formulas together


def check_gradients(formulas: Collection[Formula], operator: FormulaNames) -> Iterator[Diagnostic]:
    """Check that the formulas of an entry name gradients consistently and unambiguously."""
    first: dict[str, tuple[str, Formula]] = {}
    for formula in formulas:
        if "grads" in formula.words:
            yield from _check_indices(formula, operator)
        for word in _gradient_words(formula, operator):
            first.setdefault(_naming_style(word), (word, formula))
            if len(first) > 1:
                (other,) = [way for way in first if way != _naming_style(word)]
                yield _mixed_styles(formula, word, *first[other])
                return
            if word == "grad" and operator.stated is not None and operator.differentiable_count > 1:
                yield _ambiguous(formula, operator)
                return


def _gradient_words(formula: Formula, operator: FormulaNames) -> list[str]:
    """Return the names of gradients in a formula."""
    words, parameters = formula.words, operator.parameters
    return [w for w in ("grad", "grads", *operator.named_gradients) if w in words and w not in parameters]


def _naming_style(word: str) -> str:
    return word if word in ("grad", "grads") else "grad_<name>"


def _mixed_styles(formula: Formula, word: str, other: str, before: Formula) -> Diagnostic:
    message = f"the formulas of one operator use '{_naming_style(other)}' or '{_naming_style(word)}', not both"
    note = Note(f"'{other}' is used here", before.span_of(other))
    return Diagnostic("mixed-gradients", message, formula.span_of(word), "use one of the two everywhere", (note,))


def _ambiguous(formula: Formula, operator: FormulaNames) -> Diagnostic:
    count = operator.differentiable_count
    message = f"'grad' doesn't say which of {count} differentiable results it is the gradient of"
    label = f"write 'grads[0]' to 'grads[{count - 1}]'"
    if operator.named_gradients:
        label += f", or {', '.join(operator.named_gradients)}"
    return Diagnostic("ambiguous-gradient", message, formula.span_of("grad"), label)


def _check_indices(formula: Formula, operator: FormulaNames) -> Iterator[Diagnostic]:
    indices = used_indices(formula.value.text, "grads")
    if not indices or is_foreach_func(operator.function) or _returns_list(operator):
        return
    if find_syntax_error(formula.value.text):
        return
    if "grads" in operator.parameters:
        return
    count = operator.differentiable_count
    for start, end, index in indices:
        if index is None:
            label = f"write 'grads[0]' to 'grads[{count - 1}]'" if count > 1 else "write 'grads[0]'"
            span = formula.span(start, end)
            yield Diagnostic("gradient-index", "the index of 'grads' must be a number", span, label)
        elif index >= count:
            name = operator.function.func.name
            results = "1 differentiable result" if count == 1 else f"{count} differentiable results"
            label = f"the last is 'grads[{count - 1}]'" if count else ""
            message = f"there is no 'grads[{index}]': '{name}' has {results}"
            yield Diagnostic("gradient-index", message, formula.span(start, end), label)


def _returns_list(operator: FormulaNames) -> bool:
    return any(returned.type.is_list_like() is not None for returned in operator.function.func.returns)
