"""Derivatives of operators → derivatives of all their forms.

derivatives.yaml has the derivatives of one form, usually the functional one.  The other forms share
them: the in-place form computes its tangent in place; a foreach operator applies the formulas of
the per-tensor operator to each element.

    add.Tensor: self_t + maybe_multiply(other_t, alpha)
    add_.Tensor: self_t_raw.defined() ? self_t_raw.copy_(self_t + …) : self_t + …
    _foreach_add.List: a formula with `self[i]`, `other[i]` and `grads[i]` for each element
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import (
    DEFAULT_KEY,
    FOREACH,
    Derivative,
    DifferentiabilityInfo,
    ForwardDerivative,
    Infos,
    NativeFunctionWithDifferentiabilityInfo,
    SavedAttribute,
    identifiers,
    is_foreach_func,
    replace_words,
    union,
    unique,
)
from opgen.api.types import TENSOR_LIST, BaseCType, Binding, NamedCType, scalarTypeT
from opgen.frozen_dataclass import dataclass
from opgen.model import FunctionSchema, NativeFunction, OperatorName, SchemaKind, Type


@dataclass(frozen=True, slots=True)
class Matched:
    """All operators with their derivatives, and the derivatives that were derived for foreach operators."""

    functions: tuple[NativeFunctionWithDifferentiabilityInfo, ...]
    derived: tuple[DifferentiabilityInfo, ...]
    """The derivatives of foreach operators, which have no entries."""


def match_differentiability_info(functions: Iterable[NativeFunction], infos: Mapping[OperatorName, Infos]) -> Matched:
    """Pair each function with its differentiability info."""
    matcher = _Matcher(infos)
    matched = tuple([matcher.match(function) for function in functions])
    return Matched(matched, tuple(matcher.derived))


class _Matcher:
    """Looks up the derivatives of operators."""

    def __init__(self, infos: Mapping[OperatorName, Infos]) -> None:
        self.by_name: dict[str, Infos] = {}
        self.functional, self.other = _Forms(), _Forms()
        self.references: dict[str, list[DifferentiabilityInfo]] = {}
        self.derived: list[DifferentiabilityInfo] = []
        self.names = frozenset([name.name.base for name in infos])
        for name, by_key in infos.items():
            func = next(iter(by_key.values())).func.func
            self.by_name[name.text] = by_key
            kind = self.functional if func.kind() is SchemaKind.functional else self.other
            kind.add(func, by_key)
            if DEFAULT_KEY in by_key:
                self.references.setdefault(name.name.text, []).append(by_key[DEFAULT_KEY])

    def match(self, function: NativeFunction) -> NativeFunctionWithDifferentiabilityInfo:
        """Return the operator with its derivatives, if it has any."""
        base = function.func.name.name.base
        if base not in self.names and not base.startswith(FOREACH):
            return NativeFunctionWithDifferentiabilityInfo(
                function, None, None
            )  # fast path: about half the operators have no derivative
        infos, is_own = self._find(function)
        if infos is None:
            return NativeFunctionWithDifferentiabilityInfo(function, None, None)
        # Only torch's own formulas for in-place operators write the tangent themselves.
        writes = is_own and function.namespace == "aten"
        forward = {key: _forward_of(function, info, writes) for key, info in infos.items()}
        return NativeFunctionWithDifferentiabilityInfo(function, infos, forward)

    def _find(self, function: NativeFunction) -> tuple[Infos | None, bool]:
        """Return the derivatives of an operator, and whether it has its own entry."""
        func = function.func
        is_generated = "generated" in function.tags
        if is_generated and func.kind() is SchemaKind.out:
            return None, False
        by_name = self.by_name.get(func.name.text)
        if by_name is not None:
            return by_name, True
        if is_foreach_func(function):
            return self._find_for_foreach(function), False
        infos = self.functional.find(func)
        if infos is None and is_generated:
            infos = self.other.find(func)
        return infos, False

    def _find_for_foreach(self, function: NativeFunction) -> Infos | None:
        """Return the derivatives of a foreach operator, derived from those of the per-tensor operator."""
        reference = self._reference(function)
        if reference is None:
            return None
        if function.func.kind() is SchemaKind.inplace:
            return {DEFAULT_KEY: reference}
        info = derive_for_foreach(function, reference)
        self.derived.append(info)
        return {DEFAULT_KEY: info}

    def _reference(self, function: NativeFunction) -> DifferentiabilityInfo | None:
        name = function.func.name.name.text.removeprefix(FOREACH)
        if function.func.name.text not in _WITH_INPLACE_REFERENCE:
            name = name.removesuffix("_")
        candidates = self.references.get(name, ())
        # A condition is for one tensor, but the node for the whole list.
        unconditional = (info for info in candidates if info.output_differentiability_conditions is None)
        return next((info for info in unconditional if is_reference(function, info.func.func)), None)


_Form = tuple[FunctionSchema, Infos]


class _Forms:
    """Derivatives by the signature of their form."""

    def __init__(self) -> None:
        self.by_signature: dict[FunctionSchema, _Form] = {}
        self.by_base: dict[str, list[_Form]] = {}

    def add(self, func: FunctionSchema, infos: Infos) -> None:
        """Record the derivatives of an operator."""
        self.by_signature[func.signature()] = form = (func, infos)
        self.by_base.setdefault(func.name.name.base, []).append(form)

    def find(self, func: FunctionSchema) -> Infos | None:
        """Return the derivatives of the form with the same signature, ignoring defaults."""
        other, infos = self.by_signature.get(func.signature(), (None, None))
        if other is not None and _defaults(other) == _defaults(func):
            return infos  # fast path
        names = _names(func)
        candidates = [form for form in self.by_base.get(func.name.name.base, ()) if _names(form[0]) == names]
        signature = func.signature(strip_default=True) if candidates else None
        matches = [infos for other, infos in candidates if other.signature(strip_default=True) == signature]
        return matches[-1] if matches else None


def _names(func: FunctionSchema) -> list[str]:
    return [argument.name for argument in func.arguments.flat_non_out]


def _defaults(func: FunctionSchema) -> list[str | None]:
    return [argument.default for argument in func.arguments.flat_non_out]


# -------------------------------------------------------------------------------- in place


def _forward_of(function: NativeFunction, info: DifferentiabilityInfo, is_own: bool) -> tuple[ForwardDerivative, ...]:
    """Return the forward formulas of an entry, adapted to the operator."""
    if function.func.kind() is not SchemaKind.inplace or not info.forward_derivatives:
        return info.forward_derivatives
    return tuple(_in_place(function, derivative, is_own) for derivative in info.forward_derivatives)


_INPLACE_WORD: Final = re.compile(r"(?<!::)\b(original_self_[pt]|self_p|self_t|result)\b(?!::)")


def _in_place(function: NativeFunction, derivative: ForwardDerivative, is_own: bool) -> ForwardDerivative:
    """Adapt a formula for the tangent of a result to the in-place form.

    When the formula runs, `self_p` is already the result; the value before the call is `original_self_p`,
    and its tangent `original_self_t`.
    """
    words = set(_INPLACE_WORD.findall(derivative.formula))
    needs_original = not words.isdisjoint({"original_self_p", "original_self_t"})
    replaced = {"result": "self_p"}
    if not is_own and "self_p" in words:
        needs_original = True
        replaced |= {"self_p": "original_self_p", "self_t": "original_self_t"}
    formula = _INPLACE_WORD.sub(lambda match: replaced.get(match.group(), match.group()), derivative.formula)
    if not is_own:
        formula = _keep_tangent(function, formula)
    primal = derivative.required_inputs_primal
    return ForwardDerivative(
        formula,
        ("self",),
        derivative.var_types,
        derivative.required_inputs_fw_grad,
        unique((*primal, "self")) if "result" in words else primal,
        required_original_self_value=needs_original,
        is_reusing_outplace_formula=not is_own,
        place=derivative.place,
        is_linear=derivative.is_linear,
    )


def _keep_tangent(function: NativeFunction, formula: str) -> str:
    """Return the formula with the tangent updated in place, so that views of it see the change."""
    method = f"self_t.{function.root_name}("
    if formula.startswith(method) and _is_one_call(formula, len(method)):
        return f"self_t_raw.defined() ? self_t_raw.{function.func.name.name}({formula[len(method) :]} : {formula}"
    return f"self_t_raw.defined() ? self_t_raw.copy_({formula}) : {formula}"


def _is_one_call(formula: str, start: int) -> bool:
    """Return whether the bracket before `start` is closed at the end of the formula."""
    depth = 1
    for index in range(start, len(formula)):
        depth += {"(": 1, ")": -1}.get(formula[index], 0)
        if depth == 0:
            return index == len(formula) - 1
    return False


# ------------------------------------------------------------------------------------ lists

_WITH_INPLACE_REFERENCE: Final = ("_foreach_zero_",)
"""Foreach operators whose per-tensor operator has derivatives only for its in-place form."""
_WITHOUT_ALPHA: Final = ("_foreach_add", "_foreach_sub")
"""Foreach operators whose overloads for scalars don't have the `alpha` of the per-tensor operator."""


def is_reference(function: NativeFunction, reference: FunctionSchema) -> bool:
    """Return whether a foreach operator applies `reference` to each element."""
    if len(reference.returns) > 1:
        return False  # gradients of several lists come in one list, so no element has `grads[0]` and `grads[1]`
    results = len(function.func.returns)
    if results != len(reference.returns) and (results or function.func.kind() is not SchemaKind.inplace):
        return False
    list_arguments, tensor_arguments = function.func.arguments.flat_non_out, reference.arguments.flat_non_out
    may_omit_alpha = function.root_name in _WITHOUT_ALPHA and function.func.name.overload_name in (
        "Scalar",
        "ScalarList",
    )
    if len(list_arguments) != len(tensor_arguments) and not may_omit_alpha:
        return False
    return all(_element(one.type) == other.type for one, other in zip(list_arguments, tensor_arguments))


def _element(type: Type) -> Type:
    list_type = type.is_list_like()
    return type if list_type is None else list_type.elem


def derive_for_foreach(function: NativeFunction, reference: DifferentiabilityInfo) -> DifferentiabilityInfo:
    """Return the derivatives of a foreach operator: those of the per-tensor operator, for each element."""
    lists = _ForeachArguments.of(function, reference.func)
    derivatives = tuple(lists.derivative(one) for one in reference.derivatives)
    differentiated = {name for one in derivatives for name in one.var_names}
    return DifferentiabilityInfo(
        func=function,
        op=f"Foreach{reference.op}{function.func.name.overload_name}" if reference.op else None,
        derivatives=derivatives,
        forward_derivatives=tuple(lists.forward(one) for one in reference.forward_derivatives),
        all_saved_inputs=union([one.saved_inputs for one in derivatives]),
        all_saved_outputs=union([one.saved_outputs for one in derivatives]),
        available_named_gradients=reference.available_named_gradients,
        used_named_gradients=reference.used_named_gradients,
        args_with_derivatives=tuple(b for b in lists.bindings.values() if b.name in differentiated),
        non_differentiable_arg_names=tuple(lists.names[name] for name in reference.non_differentiable_arg_names),
        output_differentiability=reference.output_differentiability,
        output_differentiability_conditions=reference.output_differentiability_conditions,
        condition_place=reference.condition_place,
    )


@dataclass(frozen=True, slots=True)
class _ForeachArguments:
    """The arguments of a per-tensor operator in the foreach operator."""

    names: Mapping[str, str]
    """The name in the foreach operator of each argument of the per-tensor operator."""
    bindings: Mapping[str, Binding]
    """The parameters of the foreach operator, by name."""
    indexed: Mapping[str, str]
    """`names` with `[i]` after arguments that are lists."""
    has_one_result: bool
    """Whether the per-tensor operator has one result, whose gradient is both `grads[0]` and `grad`."""

    @staticmethod
    def of(function: NativeFunction, reference: NativeFunction) -> _ForeachArguments:
        """Match the arguments of the two operators by position."""
        signature = cpp.arguments(function.func.arguments, faithful=False, symint=True, method=False)
        arguments = function.func.arguments.flat_non_out
        names = {theirs.name: mine.name for theirs, mine in zip(reference.func.arguments.flat_non_out, arguments)}
        lists = {argument.name for argument in arguments if argument.type.is_list_like() is not None}
        indexed = {theirs: f"{mine}[i]" if mine in lists else mine for theirs, mine in names.items()}
        bindings = {binding.name: binding for binding in signature}
        return _ForeachArguments(names, bindings, indexed, len(reference.func.returns) == 1)

    def derivative(self, derivative: Derivative) -> Derivative:
        """Return the gradients of one element."""
        if self.has_one_result and "grads" in derivative.formula:
            texts = (derivative.formula, derivative.original_formula)
            formula, original = (_FIRST_GRADIENT.sub("grad", text) for text in texts)
            derivative = replace(derivative, formula=formula, original_formula=original)
        # Only dtypes and whole values can be replaced in the formula; other saved expressions are recomputed.
        inputs = [one for one in derivative.saved_inputs if one.nctype.type != _SCALAR_TYPE]
        if all(one.name == one.expr for one in (*inputs, *derivative.saved_outputs)):
            return self._save_values(derivative)
        return self._save_lists(derivative)

    def _save_values(self, derivative: Derivative) -> Derivative:
        formula = replace_words(derivative.formula, _ELEMENTS)
        saved = []
        # Reproduces a torchgen quirk for output parity: since words are replaced one after the other, the tensor of a
        # dtype gets a second index if it is saved too.
        for attribute in derivative.saved_inputs:
            owner = re.match(r"\w+", attribute.expr)
            name = owner.group() if owner else attribute.expr
            if attribute.nctype.type == _SCALAR_TYPE:
                formula = replace_words(formula, {attribute.name: f"{self.indexed[name]}.scalar_type()"})
            else:
                formula = replace_words(formula, {name: self.indexed[name]})
            saved.append(self._saved(name))
        return self._of_element(derivative, formula, saved, [one.name for one in derivative.saved_outputs])

    def _save_lists(self, derivative: Derivative) -> Derivative:
        """Return the derivative for a formula that saves sizes: save the list, and recompute the sizes in backward."""
        original = derivative.original_formula
        formula = replace_words(original, {**self.indexed, **_ELEMENTS})
        words = identifiers(original)
        saved = [self._saved(name) for name in self.names if name in words]
        return self._of_element(derivative, formula, saved, ["result"] if "result" in words else [])

    def _of_element(
        self, derivative: Derivative, formula: str, inputs: Iterable[SavedAttribute], results: Iterable[str]
    ) -> Derivative:
        var_names = tuple(self.names[name] for name in derivative.var_names)
        outputs = tuple(SavedAttribute(NamedCType(name, TENSOR_LIST), name) for name in results)
        return replace(
            derivative,
            formula=formula,
            original_formula=derivative.formula,
            var_names=var_names,
            saved_inputs=unique(inputs),
            saved_outputs=outputs,
        )

    def _renamed(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the names in the foreach operator, without arguments that it doesn't have."""
        return tuple(self.names[name] for name in names if name in self.names)

    def _saved(self, name: str) -> SavedAttribute:
        """Return the saved variable for an argument: the whole list."""
        mine = self.names[name]
        return SavedAttribute(NamedCType(mine, self.bindings[mine].nctype.type.remove_const_ref()), mine)

    def forward(self, derivative: ForwardDerivative) -> ForwardDerivative:
        """Return the tangent of one element."""
        names = {f"{theirs}_{suffix}": f"{mine}_{suffix}" for theirs, mine in self.names.items() for suffix in "pt"}
        return replace(
            derivative,
            formula=replace_words(derivative.formula, {**self.indexed, **names, "result": "result[i]"}),
            required_inputs_fw_grad=self._renamed(derivative.required_inputs_fw_grad),
            required_inputs_primal=self._renamed(derivative.required_inputs_primal),
        )


_SCALAR_TYPE: Final = BaseCType(scalarTypeT)
_FIRST_GRADIENT: Final = re.compile(r"\bgrads\s*\[\s*0\s*\]")
_ELEMENTS: Final = MappingProxyType({"grad": "grads[i]", "result": "result[i]"})
"""Names in per-tensor formulas, and their replacements in formulas for one element."""
