"""One entry of derivatives.yaml → the derivatives of an operator, by dispatch key.

An entry names an operator by its full schema.  Every other key is a reserved key, or names the
arguments or results that its formula is for: gradients of arguments, or tangents of results.

    - name: atan2(Tensor self, Tensor other) -> Tensor
      self, other: atan2_backward(grad, self, other, grad_input_mask)
      result: (-self_p * other_t + other_p * self_t) / (self_p.pow(2) + other_p.pow(2))

`formula_rules` checks formulas; `derivatives` numbers the classes of autograd nodes over the whole file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from pathlib import PurePath
from types import MappingProxyType
from typing import Final

from opgen.api.autograd import DEFAULT_KEY, Derivative, FormulaPlace, ForwardDerivative, SavedAttribute, identifiers
from opgen.api.python_stubs import legal_name
from opgen.api.types import Binding
from opgen.diagnostics import Diagnostic, Diagnostics, Note, Span, UserError, closest, did_you_mean, expected
from opgen.dispatch_keys import DispatchKey
from opgen.frontend.entry_fields import schema_diagnostic
from opgen.frontend.fields import boolean, kind_of, scalar
from opgen.frontend.formula_languages import (
    FormulaSource,
    check_python,
    formula_scope,
    python_formula,
    read_formula,
)
from opgen.frontend.formula_rules import (
    NON_DIFFERENTIABLE,
    Formula,
    FormulaNames,
    NamedValue,
    check_backward,
    check_forward,
    check_gradients,
)
from opgen.frontend.formulas import find_problems, save_variables
from opgen.frontend.forward_formulas import Backward, ForwardProblem, derive_forward
from opgen.frontend.nodes import ListNode, MappingNode, Node, Scalar
from opgen.frontend.python_formulas import FormulaScope, names_in
from opgen.frontend.torch_functions import TorchFunctions
from opgen.frozen_dataclass import dataclass
from opgen.model import FunctionSchema, NativeFunction, Return, SchemaError
from opgen.schema.registered import parse_registered

NAME: Final = "name"
DISPATCH: Final = "dispatch"
OUTPUT_DIFFERENTIABILITY: Final = "output_differentiability"
HANDLES_COMPLEX: Final = "handles_complex"
DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        NAME: "The operator's schema, without its namespace.",
        DISPATCH: "Formulas by dispatch key: Default, and keys such as AutogradCUDA.",
        OUTPUT_DIFFERENTIABILITY: "Whether each result is differentiable, or a C++ condition.",
        HANDLES_COMPLEX: "True if the formulas hold for complex tensors.",
        "formula": "A C++ expression for the gradient of the arguments, or the tangent of the result, in the key.",
    }
)
"""The keys of an entry in derivatives.yaml; `formula` stands for those that name arguments or results."""
_RESERVED_KEYS: Final = (NAME, DISPATCH, OUTPUT_DIFFERENTIABILITY, HANDLES_COMPLEX)

AUTOGRAD_KEYS: Final = tuple(
    key.name
    for key in DispatchKey
    if key.name.startswith("Autograd")
    and key not in (DispatchKey.Autograd, DispatchKey.AutogradOther, DispatchKey.AutogradFunctionality)
)
"""The dispatch keys that may have derivatives, besides `Default`."""

_BOOLEANS: Final = MappingProxyType({"true": True, "false": False})


@dataclass(frozen=True, slots=True)
class DerivativeSet:
    """The formulas of an entry for one dispatch key."""

    derivatives: tuple[Derivative, ...]
    forward_derivatives: tuple[ForwardDerivative, ...]
    args_with_derivatives: tuple[Binding, ...]
    non_differentiable_arg_names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DerivativeEntry:
    """An entry, parsed and checked."""

    name: Scalar
    """The schema, as spelled in the file."""
    operator: FormulaNames
    sets: Mapping[str, DerivativeSet]
    """By dispatch key."""
    handles_complex: bool
    """Whether the formulas support complex tensors."""


def read_derivative_entry(
    node: Node, functions: Mapping[str, NativeFunction], log: Diagnostics, python: TorchFunctions | None = None
) -> DerivativeEntry | None:
    """Return the entry in `node`; None, with errors logged, if it can't be read.

    Args:
        node: The entry.
        functions: All operators by name.
        log: Receives all errors.
        python: torch's operators, for formulas in Python; None for formulas in C++.
    """
    if not isinstance(node, MappingNode):
        label = "write keys such as 'name: ...' and 'self: ...'"
        log.error("wrong-kind", f"an entry must be a mapping, not {kind_of(node)}", node.span, label)
        return None
    by_key = {key.text: value for key, value in node.entries}
    try:
        where = _read_name(by_key.get(NAME), node)
        function = _find_operator(where, functions)
    except UserError as problem:
        log.extend(problem.diagnostics)
        return None
    before = log.error_count
    handles_complex = False
    try:
        stated, conditions = _read_differentiability(by_key.get(OUTPUT_DIFFERENTIABILITY), function)
        location = _condition_location(by_key.get(OUTPUT_DIFFERENTIABILITY)) if conditions else None
        operator = FormulaNames.of(function, stated, conditions, location)
        handles_complex = HANDLES_COMPLEX in by_key and boolean(by_key[HANDLES_COMPLEX])
    except UserError as problem:
        log.extend(problem.diagnostics)
        operator = FormulaNames.of(function)
    languages = _Languages(operator, functions, python)
    if languages.is_python and operator.conditions is not None:
        message = "a condition in C++ can't decide whether results are differentiable if autograd is in Python"
        log.error("formula-language", message, by_key[OUTPUT_DIFFERENTIABILITY].span, "write 'True' or 'False'")
    formulas = _read_dispatch(node, by_key.get(DISPATCH), log)
    sets = {key: _read_set(pairs, operator, languages, log) for key, pairs in formulas}
    return DerivativeEntry(where, operator, sets, handles_complex) if log.error_count == before else None


# --------------------------------------------------------------------------------- the operator


def _read_name(value: Node | None, node: MappingNode) -> Scalar:
    if value is None:
        start = node.entries[0][0].span if node.entries else node.span
        raise UserError(
            Diagnostic("missing-key", "the key 'name' is missing from this entry", start, "add 'name: ...'")
        )
    return scalar(value)


def _find_operator(where: Scalar, functions: Mapping[str, NativeFunction]) -> NativeFunction:
    """Return the operator that an entry is for; an extension's may have its namespace.  Raises UserError."""
    # Fast path: most entries repeat the operator's schema exactly, so it isn't parsed.
    candidate = functions.get(where.text.partition("(")[0])
    if candidate is not None and not candidate.func.is_out_fn() and str(candidate.func) == where.text:
        return candidate
    foreign = next((f.namespace for f in functions.values() if f.func.is_lenient), None)
    offset = len(foreign) + 2 if foreign is not None and where.text.startswith(f"{foreign}::") else 0
    text = where.text[offset:]
    try:
        schema = FunctionSchema.parse(text) if foreign is None else parse_registered(text)
    except SchemaError as problem:
        raise schema_diagnostic(problem, where, offset) from None
    name = str(schema.name)
    function = functions.get(name)
    if function is None:
        raise _unknown_operator(where, name, functions)
    if str(function.func) != str(schema):
        message = f"'{name}' has a different schema"
        label = f"write '{function.func}'"
        start, end = _difference(text, str(function.func))
        span = where.span_at(offset + start, offset + end)
        raise UserError(Diagnostic("schema-mismatch", message, span, label, (_definition_note(function),)))
    if function.func.is_out_fn():
        message = f"'{name}' is an out form, which is never differentiable"
        label = "write the functional form"
        raise UserError(Diagnostic("out-derivative", message, where.span_at(offset, offset + len(name)), label))
    return function


_WORD: Final = re.compile(r"->|\w+|[^\s\w]")


def _difference(text: str, expected: str) -> tuple[int, int]:
    """Return the range of the words of `text` that differ from `expected`; at least one word."""
    words, others = list(_WORD.finditer(text)), [word.group() for word in _WORD.finditer(expected)]
    start, end, other_end = 0, len(words), len(others)
    while start < min(end, other_end) and words[start].group() == others[start]:
        start += 1
    while start < min(end, other_end) and words[end - 1].group() == others[other_end - 1]:
        end, other_end = end - 1, other_end - 1
    start = min(start, len(words) - 1)
    return words[start].start(), words[max(start, end - 1)].end()


def _unknown_operator(where: Scalar, name: str, functions: Mapping[str, NativeFunction]) -> UserError:
    overloads = [other for other in functions if other.partition(".")[0] == name.partition(".")[0]]
    near = closest(name, functions)
    if overloads and near not in overloads:
        near = closest(name, overloads) or overloads[0]
    notes = (Note(f"'{functions[near].func}' is here", functions[near].loc),) if near else ()
    label = f"did you mean '{near}'?" if near else "define the operator, or remove this entry"
    span = where.span_at(0, len(name))
    return UserError(Diagnostic("unknown-operator", f"there is no operator '{name}'", span, label, notes))


def _definition_note(function: NativeFunction) -> Note:
    return Note(f"'{function.func.name}' is here", function.loc)


def _read_differentiability(
    value: Node | None, function: NativeFunction
) -> tuple[tuple[bool, ...] | None, tuple[str, ...] | None]:
    """Return which results are differentiable, and under which conditions; None if the entry doesn't specify it."""
    if value is None:
        return None, None
    if not isinstance(value, ListNode):
        message = f"'{OUTPUT_DIFFERENTIABILITY}' must be a list, not {kind_of(value)}"
        raise UserError(Diagnostic("wrong-kind", message, value.span, "write '[True]' or '[\"condition\"]'"))
    words = [scalar(item) for item in value.items]
    returns = function.func.returns
    if len(words) != len(returns):
        message = f"'{function.func.name}' has {_count(len(returns), 'result')}, but this list has {len(words)}"
        legal = ", ".join(str(returned.type.is_tensor_like()) for returned in returns)
        label = f"write one value for each, as in '[{legal}]'"
        raise UserError(
            Diagnostic("differentiability-length", message, value.span, label, (_definition_note(function),))
        )
    values = [_BOOLEANS.get(word.text.lower()) if word.is_plain else None for word in words]
    problems = [
        Diagnostic("not-differentiable", _no_gradient(returned), word.span, "write 'False'")
        for word, wanted, returned in zip(words, values, returns, strict=True)
        if wanted is not False and not returned.type.is_tensor_like()
    ]
    if problems:
        raise UserError(*problems)
    stated = tuple(wanted for wanted in values if wanted is not None)
    if len(stated) == len(words):
        return stated, None
    _check_conditions(words, function)
    return (True,) * len(words), tuple(word.text for word in words)


def _no_gradient(returned: Return) -> str:
    which = f"the result '{returned.name}'" if returned.name else "the result"
    return f"{which} can't be differentiable: its type is '{returned.type}'"


def _check_conditions(words: list[Scalar], function: NativeFunction) -> None:
    """Check conditions, which are C++ with the operator's arguments.  Raises UserError, also for several results."""
    if len(words) > 1:
        message = "only an operator with one result can have a condition"
        first = next(word for word in words if word.text.lower() not in _BOOLEANS or not word.is_plain)
        raise UserError(Diagnostic("several-conditions", message, first.span, "write 'True' or 'False'"))
    legal = frozenset([argument.name for argument in function.func.arguments.flat_non_out])
    for word in words:
        problems = find_problems(word.text, identifiers(word.text), legal)
        if problems:
            first_problem = problems[0]
            span = word.span_at(first_problem.start, first_problem.end)
            raise UserError(Diagnostic(first_problem.id, first_problem.message, span, first_problem.label))


def _condition_location(value: Node | None) -> FormulaPlace | None:
    """Return the location of the single condition of a list."""
    return _place(value.items[0].span) if isinstance(value, ListNode) else None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# ------------------------------------------------------------------------------- dispatch keys

Pair = tuple[Scalar, Node]


def _read_dispatch(node: MappingNode, dispatch: Node | None, log: Diagnostics) -> Iterator[tuple[str, Sequence[Pair]]]:
    """Return the keys and formulas of an entry, by dispatch key."""
    pairs = [pair for pair in node.entries if pair[0].text not in _RESERVED_KEYS]
    if dispatch is None:
        yield DEFAULT_KEY, pairs
        return
    if not isinstance(dispatch, MappingNode):
        label = "write 'Default:' and the formulas below it"
        log.error("wrong-kind", f"'dispatch' must be a mapping, not {kind_of(dispatch)}", dispatch.span, label)
        return
    if not dispatch.entries:
        label = f"write '{DEFAULT_KEY}:' and the formulas below it, or remove 'dispatch'"
        log.error("missing-value", "'dispatch' has no keys", dispatch.span, label)
    for key, _ in pairs:
        message = f"with 'dispatch', '{key.text}' belongs under one of its keys"
        log.error("formula-beside-dispatch", message, key.span, f"move it below '{DEFAULT_KEY}:'")
    legal = (DEFAULT_KEY, *AUTOGRAD_KEYS)
    for key, value in dispatch.entries:
        if key.text not in legal:
            label = expected(key.text, legal)
            log.error("unknown-dispatch-key", f"'{key.text}' is not a dispatch key for derivatives", key.span, label)
        elif isinstance(value, MappingNode):
            yield key.text, value.entries
        else:
            label = "write 'self: ...' below it"
            log.error("wrong-kind", f"'{key.text}' must be a mapping, not {kind_of(value)}", value.span, label)


# --------------------------------------------------------------------------------- formulas


@dataclass(frozen=True, slots=True)
class _Languages:
    """The language that formulas must be in."""

    operator: FormulaNames
    functions: Mapping[str, NativeFunction]
    torch: TorchFunctions | None
    """torch's operators, for formulas in Python; None for formulas in C++."""

    @property
    def is_python(self) -> bool:
        """Whether formulas must be in Python."""
        return self.torch is not None

    def scope(self) -> FormulaScope:
        """Return the scope of the formulas."""
        return formula_scope(self.operator, self.functions, self.torch or TorchFunctions(None))


def _read_set(pairs: Sequence[Pair], operator: FormulaNames, languages: _Languages, log: Diagnostics) -> DerivativeSet:
    """Return the formulas for one dispatch key; log their errors."""
    backward: list[Formula] = []
    forward: list[Formula] = []
    derivatives: list[tuple[str, Derivative]] = []
    non_differentiable: list[str] = []
    seen: dict[str, NamedValue] = {}
    for key, value in pairs:
        is_constant = isinstance(value, Scalar) and value.text == NON_DIFFERENTIABLE
        names = _read_names(key, operator, seen, is_constant, log)
        source = read_formula(key, value, log) if names else None
        if source is None:
            continue
        var_names = tuple([named.text for named in names])
        if is_constant and not names[0].is_result:
            non_differentiable += var_names
        elif names[0].is_result:
            forward += _forward_formula(source, var_names, languages, log)
        else:
            formula, derivative = _read_backward(source, var_names, operator, languages, log)
            backward.append(formula)
            derivatives += [(key.text, derivative)] if derivative is not None else []
    log.extend(check_gradients(backward, operator))
    # torch computes gradients in the order of the argument names, not in the order of the file.
    backward.sort(key=_KEY_TEXT)
    derivatives.sort(key=itemgetter(0))
    differentiated = {name for _, derivative in derivatives for name in derivative.var_names}
    arguments = tuple([binding for name, binding in operator.parameters.items() if name in differentiated])
    forward.sort(key=_KEY_TEXT)
    known = Backward(
        operator.function,
        tuple(operator.parameters),
        tuple([binding.name for binding in arguments]),
        tuple([formula.value.text for formula in backward]),
        frozenset(non_differentiable),
    )
    forwards = tuple(_derive_forwards(forward, known, operator, log)) if forward else ()
    ordered = tuple([derivative for _, derivative in derivatives])
    return DerivativeSet(ordered, forwards, arguments, tuple(sorted(non_differentiable)))


def _forward_formula(
    source: FormulaSource, var_names: tuple[str, ...], languages: _Languages, log: Diagnostics
) -> Iterator[Formula]:
    """Yield a formula for tangents, which only autograd in C++ supports."""
    if languages.is_python:
        message = f"the formula for '{source.key.text}' is not used: the stable ABI has no forward mode"
        log.remark("no-forward-mode", message, source.key.span)
        return
    text = source.for_cpp(log)
    if text is not None:
        yield Formula(source.key, var_names, text, identifiers(text.text))


def _read_backward(
    source: FormulaSource,
    var_names: tuple[str, ...],
    operator: FormulaNames,
    languages: _Languages,
    log: Diagnostics,
) -> tuple[Formula, Derivative | None]:
    """Return a formula for gradients and its derivative; None for the derivative if the formula has errors."""
    before = log.error_count
    formula = Formula(source.key, var_names, source.text, identifiers(source.text.text))
    if source.is_cpp:
        log.extend(check_backward(formula, operator))
    if source.python is not None:
        log.extend(check_python(source.python, languages.scope()))
    if languages.is_python:
        translated = python_formula(source, languages.scope(), log) if log.error_count == before else None
        return formula, None if translated is None else _derive_python(translated, formula, operator)
    return formula, None if source.for_cpp(log) is None else _derive(formula, operator)


_KEY_TEXT: Final = attrgetter("key.text")
_NAME: Final = re.compile(r"[^\s,](?:[^,]*[^\s,])?")


def _read_names(
    key: Scalar, operator: FormulaNames, seen: dict[str, NamedValue], is_constant: bool, log: Diagnostics
) -> Sequence[NamedValue]:
    """Return the arguments, or else the results, that a formula is for; empty if there are errors.

    Any argument may be declared non-differentiable.
    """
    names: list[NamedValue] = []
    problems: list[Diagnostic] = []
    for match in _NAME.finditer(key.text):
        name = match[0]
        named = NamedValue(name, key, match.start(), name not in operator.parameters)
        names.append(named)
        if name in seen or name not in operator.values:
            problems.append(_explain_name(named, operator, seen))
        if not named.is_result and not is_constant and not operator.is_tensor(name):
            message = f"the argument '{name}' can't have a gradient: its type is '{operator.type_of(name)}'"
            label = "only tensors and lists of tensors can"
            problems.append(Diagnostic("not-differentiable", message, named.span, label))
        seen.setdefault(name, named)
    if not problems and len(names) > 1 and len({named.is_result for named in names}) > 1:
        message = "one formula can't be for both arguments and results"
        problems.append(Diagnostic("mixed-names", message, key.span, "write one formula for each"))
    if problems:
        log.extend(problems)
        return ()
    return names


def _explain_name(named: NamedValue, operator: FormulaNames, seen: Mapping[str, NamedValue]) -> Diagnostic:
    """Return the diagnostic for a name that already has a formula, or is not a name of the operator."""
    name, key = named.text, named.key.text
    if name in seen:
        note = Note("first given here", seen[name].span)
        return Diagnostic("duplicate-derivative", f"'{name}' already has a formula", named.span, "", (note,))
    words = (*operator.parameters, *operator.results)
    if key in _RESERVED_KEYS:
        return Diagnostic("unknown-key", f"'{key}' is not allowed here", named.span, "move it beside 'dispatch'")
    if closest(key, _RESERVED_KEYS) and not closest(key, words):
        message = f"unknown key '{key}' in the derivatives of '{operator.function.func.name}'"
        return Diagnostic("unknown-key", message, named.span, did_you_mean(key, _RESERVED_KEYS))
    message = f"'{operator.function.func.name}' has no argument and no result '{name}'"
    return Diagnostic("unknown-argument", message, named.span, expected(name, words))


def _derive(formula: Formula, operator: FormulaNames) -> Derivative:
    """Return the derivative of a backward formula."""
    text, words = formula.value.text, formula.words
    is_outside = operator.function.namespace != "aten"
    saved = save_variables(
        text, words, operator.saved_inputs(words), operator.saved_outputs(words), is_outside=is_outside
    )
    named = words.intersection(operator.named_gradients).difference(operator.parameters)
    place = _place(formula.whole) if is_outside else None
    return Derivative(saved.text, text, formula.var_names, saved.saved_inputs, saved.saved_outputs, named, place)


_PATH_PARTS: Final = 3
"""The number of path components in `#line` directives: enough to identify a file, and independent of its folder."""


def _place(span: Span) -> FormulaPlace:
    """Return the location of C++ in a formula, for `#line` directives."""
    path = PurePath(span.source.name)
    return FormulaPlace(
        "/".join(part for part in path.parts[-_PATH_PARTS:] if part != path.anchor), span.line, span.column
    )


def _derive_python(text: str, formula: Formula, operator: FormulaNames) -> Derivative:
    """Return the derivative of a backward formula in Python, which saves the values that it names."""
    words = {name: legal_name(name) for name in operator.values}
    used = names_in(text)
    named = frozenset(name for name, python_name in words.items() if python_name in used)
    inputs = tuple([SavedAttribute(value, name) for name, value in operator.saved_inputs(named).items()])
    outputs = tuple([SavedAttribute(value, name) for name, value in operator.saved_outputs(named).items()])
    gradients = used.intersection(operator.named_gradients)
    return Derivative(text, formula.value.text, formula.var_names, inputs, outputs, gradients)


def _derive_forwards(
    forward: Iterable[Formula],
    backward_formulas: Backward,
    operator: FormulaNames,
    log: Diagnostics,
) -> Iterator[ForwardDerivative]:
    for formula in forward:
        log.extend(check_forward(formula, operator))
        types = tuple([operator.results[name].type for name in formula.var_names])
        try:
            derived = derive_forward(formula.value.text, formula.words, formula.var_names, types, backward_formulas)
        except ForwardProblem as problem:
            log.error("no-forward-formula", str(problem), formula.value.span, "write the formula")
        else:
            is_outside = operator.function.namespace != "aten"
            yield replace(derived, place=_place(formula.whole)) if is_outside else derived
