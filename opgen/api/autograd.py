"""The derivatives of operators as values, and functions that query them.

The front end builds a `DifferentiabilityInfo` from each entry of derivatives.yaml.  This module has
these values, and functions that return which inputs and outputs of an operator are differentiable
and how autograd dispatches it.  `opgen.api.autograd_matching` adapts the derivatives of one form to
the other forms of an operator.

    - name: mul.Tensor(Tensor self, Tensor other) -> Tensor
      self: mul_tensor_backward(grad, other, self.scalar_type())

    Derivative(formula="mul_tensor_backward(grad, other, self_scalar_type)", var_names=("self",),
               saved_inputs=(other, self_scalar_type), …)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Final, TypeVar

from opgen.api import cpp
from opgen.api.types import Binding, NamedCType
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, FunctionSchema, ListType, NativeFunction, Type

DEFAULT_KEY: Final = "Default"
"""The key of derivatives for all backends that have none of their own."""

FOREACH: Final = "_foreach_"
"""Prefix of the operators that apply another operator to each tensor of a list."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class SavedAttribute:
    """A value that the forward function saves for backward."""

    nctype: NamedCType
    """Its name in the autograd node, and the type it is saved as."""
    expr: str
    """The saved C++ expression, in terms of the forward function's arguments and results."""

    @property
    def name(self) -> str:
        """Its name in the autograd node."""
        return str(self.nctype.name)


@dataclass(frozen=True, slots=True)
class FormulaPlace:
    """The location of a formula, for `#line` directives."""

    path: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Derivative:
    """A formula for the gradient of one or more arguments."""

    formula: str
    """C++ in terms of the results' gradients and the saved variables."""
    original_formula: str
    """The formula as spelled in the file, before expressions became saved variables."""
    var_names: tuple[str, ...]
    """The arguments whose gradients it computes."""
    saved_inputs: tuple[SavedAttribute, ...]
    saved_outputs: tuple[SavedAttribute, ...]
    named_gradients: frozenset[str]
    """The named gradients that it uses, such as `grad_values`."""
    place: FormulaPlace | None = None
    """Where it was written; None in torch's own sources."""


@dataclass(frozen=True, slots=True)
class ForwardDerivative:
    """A formula for the tangents of one or more results."""

    formula: str
    """C++ in terms of the arguments, their primal values (`self_p`) and their tangents (`self_t`)."""
    var_names: tuple[str, ...]
    """The results whose tangents it computes."""
    var_types: tuple[Type, ...]
    required_inputs_fw_grad: tuple[str, ...]
    """The arguments whose tangents it uses."""
    required_inputs_primal: tuple[str, ...]
    """The arguments whose primal values it uses."""
    required_original_self_value: bool = False
    """Whether it uses the value of `self` from before the mutation."""
    is_reusing_outplace_formula: bool = False
    """Whether an in-place form reuses the formula of its functional form."""
    place: FormulaPlace | None = None
    """Where it was written; None in torch's own sources."""
    is_linear: bool = False
    """Whether it is `auto_linear`: a call of the operator, in which each argument stands by its name."""


@dataclass(frozen=True, slots=True, eq=False)
class DifferentiabilityInfo:
    """The derivatives of one operator under one dispatch key: an entry of derivatives.yaml."""

    func: NativeFunction
    op: str | None
    """The class of the autograd node, such as `MulBackward0`; None if no argument has a gradient."""
    derivatives: tuple[Derivative, ...]
    forward_derivatives: tuple[ForwardDerivative, ...]
    all_saved_inputs: tuple[SavedAttribute, ...]
    """The saved variables of all derivatives that come from arguments, without duplicates."""
    all_saved_outputs: tuple[SavedAttribute, ...]
    """The saved variables of all derivatives that come from results, without duplicates."""
    available_named_gradients: tuple[str, ...]
    """The gradients that formulas may name: those of named, differentiable results."""
    used_named_gradients: frozenset[str]
    args_with_derivatives: tuple[Binding, ...]
    """The arguments that have a gradient, in order."""
    non_differentiable_arg_names: tuple[str, ...]
    output_differentiability: tuple[bool, ...] | None
    """Which results are differentiable; None if the entry doesn't specify it."""
    output_differentiability_conditions: tuple[str, ...] | None
    """C++ conditions under which the results are differentiable, instead of booleans."""
    condition_place: FormulaPlace | None = None
    """The location of the condition; None for torch's own operators."""
    handles_complex: bool = False
    """Whether the entry declares that the formulas support complex tensors (torch's operators are listed elsewhere)."""

    @property
    def has_derivatives(self) -> bool:
        """Whether any argument has a gradient, so that the operator has an autograd node."""
        return bool(self.args_with_derivatives)


Infos = Mapping[str, DifferentiabilityInfo]
"""The derivatives of one operator by dispatch key, `Default` first if it is there."""


@dataclass(frozen=True, slots=True, eq=False)
class NativeFunctionWithDifferentiabilityInfo:
    """An operator and its derivatives, which it may share with another form."""

    func: NativeFunction
    info: Infos | None
    fw_derivatives: Mapping[str, tuple[ForwardDerivative, ...]] | None
    """The forward formulas by dispatch key, rewritten for this form."""


@dataclass(frozen=True, slots=True)
class DifferentiableInput:
    """An argument that may require a gradient."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class DifferentiableOutput:
    """A result that may have a gradient."""

    name: str
    type: Type


def unique(values: Iterable[_T]) -> tuple[_T, ...]:
    """Return the values in order, without duplicates."""
    return tuple(dict.fromkeys(values))


def union(groups: Iterable[tuple[_T, ...]]) -> tuple[_T, ...]:
    """Return the values of all groups in order, without duplicates; each group has no duplicates itself."""
    filled = [group for group in groups if group]
    return unique(chain.from_iterable(filled)) if len(filled) > 1 else filled[0] if filled else ()


# -------------------------------------------------------------------------------- formulas

_IDENTIFIER: Final = re.compile(r"\b[A-Za-z_]\w*")
_WORD: Final = re.compile(r"\w+")


def identifiers(formula: str) -> frozenset[str]:
    """Return all words of a formula, including those in comments and strings."""
    return frozenset(_IDENTIFIER.findall(formula))


def replace_words(formula: str, replaced: Mapping[str, str]) -> str:
    """Return the formula with words replaced."""
    return _WORD.sub(lambda match: replaced.get(match[0], match[0]), formula)


def uses_ident(info: DifferentiabilityInfo | None, name: str) -> bool:
    """Return whether a formula of the entry mentions `name`."""
    if info is None:
        return False
    formulas = [derivative.formula for derivative in info.derivatives if name in derivative.formula]
    return any(name in identifiers(formula) for formula in formulas)


def uses_single_grad(info: DifferentiabilityInfo | None) -> bool:
    """Return whether a formula uses `grad`, the gradient of the first result."""
    return uses_ident(info, "grad")


def uses_retain_variables(info: DifferentiabilityInfo | None) -> bool:
    """Return whether a formula uses `retain_variables`."""
    return uses_ident(info, "retain_variables")


# ------------------------------------------------------------------------ inputs and outputs


def is_foreach_func(function: NativeFunction) -> bool:
    """Return whether the operator applies another operator to each tensor of a list."""
    func = function.func
    return (
        func.name.name.base.startswith(FOREACH)
        and any(_is_tensor_list(argument.type) for argument in func.arguments.flat_all)
        and all(_is_tensor_list(returned.type) for returned in func.returns)
    )


def _is_tensor_list(type: Type) -> bool:
    return isinstance(type, ListType) and type.elem == BaseType(BaseTy.Tensor)


def is_differentiable(name: str, type: Type, info: DifferentiabilityInfo | None) -> bool:
    """Return whether an argument or result can have a gradient, by its type and its entry."""
    return type.is_tensor_like() and (info is None or name not in info.non_differentiable_arg_names)


def gen_differentiable_outputs(
    matched: NativeFunctionWithDifferentiabilityInfo, key: str = DEFAULT_KEY
) -> tuple[DifferentiableOutput, ...]:
    """Return the results that may have a gradient under a dispatch key.

    If the entry doesn't specify them and uses `grad`, only the first result has one.  An operator that mutates lists
    in place has none.
    """
    function = matched.func
    if not function.func.returns:
        return ()
    info = matched.info.get(key) if matched.info is not None else None
    named = zip(cpp.return_names(function), function.func.returns, strict=True)
    outputs = [DifferentiableOutput(name, returned.type) for name, returned in named]
    differentiability = info.output_differentiability if info is not None else None
    if differentiability is not None:
        return tuple(
            [
                output
                for output, is_differentiable_output in zip(outputs, differentiability, strict=True)
                if is_differentiable_output
            ]
        )
    candidates = [output for output in outputs if is_differentiable(output.name, output.type, info)]
    return tuple(candidates[:1] if uses_single_grad(info) else candidates)


def dispatch_strategy(matched: NativeFunctionWithDifferentiabilityInfo) -> str:
    """Return how autograd reaches an operator.

    `use_derived` calls the backend kernels, so the operator needs derivatives or can't have any.
    `use_type` decomposes the operator, whose parts have derivatives.
    """
    has_derivatives = matched.info is not None and any(info.has_derivatives for info in matched.info.values())
    return "use_derived" if has_derivatives or matched.func.is_abstract else "use_type"


def differentiable_inputs(func: FunctionSchema, info: DifferentiabilityInfo | None) -> tuple[DifferentiableInput, ...]:
    """Return the arguments of an operator that may require a gradient."""
    return tuple(
        [
            DifferentiableInput(argument.name, argument.type)
            for argument in func.schema_order_arguments()
            if is_differentiable(argument.name, argument.type, info)
        ]
    )
