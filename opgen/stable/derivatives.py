"""Operators with formulas in Python → the classes of `_derivatives.py`, which compute gradients.

If a formula only uses the sizes or the dtype of a tensor, these are saved instead of the tensor.

    self: grad.expand(self.shape)

    class Rowsum(Gradients):
        inputs = ("self",)
        facts = (("_self_shape", "self", lambda tensor: tensor.shape),)

        def compute(needs, grads, _self_shape):
            grad = grads[0]
            found = []
            found += [grad.expand(_self_shape) if needs[0] else None]
            return found
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from opgen.api import cpp
from opgen.api.autograd import (
    DEFAULT_KEY,
    Derivative,
    DifferentiabilityInfo,
    NativeFunctionWithDifferentiabilityInfo,
    gen_differentiable_outputs,
    is_foreach_func,
)
from opgen.api.python_stubs import legal_name
from opgen.dest.variable_type import registered_key
from opgen.extension.extension import Extension
from opgen.frontend.python_formulas import names_in
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, NativeFunction

_FACTS: Final = ("shape", "dtype", "device", "layout")
_CALLED_FACTS: Final = ("dim", "numel", "stride", "is_contiguous")
"""Properties of a tensor, as an attribute and as a method without arguments."""


@dataclass(frozen=True, slots=True)
class GradientClass:
    """The template values of a class of formulas."""

    name: str
    operator: str
    inputs: str
    undifferentiated: str
    results: str
    saved: str
    saved_results: str
    facts: tuple[str, ...]
    handles_complex: bool
    parameters: tuple[str, ...]
    statements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Differentiated:
    """An operator with formulas."""

    function: NativeFunction
    classes: tuple[tuple[str, GradientClass], ...]
    """The dispatch keys that the formulas are for, and their classes."""


def differentiated(extension: Extension) -> list[Differentiated]:
    """Return the operators that have formulas."""
    matched = () if extension.autograd is None else extension.autograd.functions
    return [
        Differentiated(one.func, tuple(_classes(extension, one))) for one in matched if _has_formulas(extension, one)
    ]


def _has_formulas(extension: Extension, matched: NativeFunctionWithDifferentiabilityInfo) -> bool:
    assert extension.autograd is not None
    infos = (matched.info or {}).values()
    # A foreach operator needs its own formulas.
    is_own = not any(info in extension.autograd.list_infos for info in infos) or not is_foreach_func(matched.func)
    kinds_out = bool(matched.func.func.arguments.out)
    return (
        is_own
        and not kinds_out
        and any(info.has_derivatives for info in infos)
        and not matched.func.has_composite_implicit_autograd_kernel
    )


def _classes(
    extension: Extension, matched: NativeFunctionWithDifferentiabilityInfo
) -> Iterator[tuple[str, GradientClass]]:
    for key, info in (matched.info or {}).items():
        if info.has_derivatives:
            yield registered_key(key), _class(extension, matched, key, info)


def _class(
    extension: Extension, matched: NativeFunctionWithDifferentiabilityInfo, key: str, info: DifferentiabilityInfo
) -> GradientClass:
    function = matched.func
    inputs = [name for derivative in info.derivatives for name in derivative.var_names]
    known = (*inputs, *info.non_differentiable_arg_names)
    tensors = [a.name for a in function.func.arguments.flat_all if a.type.is_tensor_like()]
    others = [name for name in tensors if name not in known]
    texts = [_Text.of(derivative.formula, function) for derivative in info.derivatives]
    facts = {fact.name: fact for text in texts for fact in text.facts}
    words = frozenset().union(*(names_in(text.text) for text in texts))
    arguments = [a.name for a in function.func.arguments.flat_all if legal_name(a.name) in words]
    results = [(name, index) for index, name in enumerate(_result_names(function)) if name in words]
    indices = _differentiable_results(matched, key)
    parameters = [*map(legal_name, arguments), *(name for name, _ in results), *facts]
    suffix = "" if key == DEFAULT_KEY else key
    return GradientClass(
        name=function.func.name.unambiguous_name().title().replace("_", "") + ("_" * _is_inplace(function)) + suffix,
        operator=f"{extension.namespace}::{function.func.name}",
        inputs=_tuple(inputs),
        undifferentiated=_tuple(others) if others else "",
        results="" if len(indices) == len(function.func.returns) else _tuple(indices),
        saved=_tuple(arguments) if arguments else "",
        saved_results=_tuple(results) if results else "",
        facts=tuple([fact.spelled() for fact in facts.values()]),
        handles_complex=info.handles_complex,
        parameters=tuple(parameters),
        statements=tuple(_statements(info, texts, matched, key)),
    )


def _is_inplace(function: NativeFunction) -> bool:
    return function.func.name.name.inplace


def _result_names(function: NativeFunction) -> Sequence[str]:
    return ("result",) if _is_inplace(function) else cpp.return_names(function)


def _differentiable_results(matched: NativeFunctionWithDifferentiabilityInfo, key: str) -> list[int]:
    names = list(cpp.return_names(matched.func))
    return [names.index(output.name) for output in gen_differentiable_outputs(matched, key)]


def _tuple(values: Iterable[object]) -> str:
    return repr(tuple(values)).replace("'", '"')


def _statements(
    info: DifferentiabilityInfo,
    texts: Sequence[_Text],
    matched: NativeFunctionWithDifferentiabilityInfo,
    key: str,
) -> Iterator[str]:
    """Yield the body of `compute`."""
    words = frozenset().union(*(names_in(text.text) for text in texts))
    if "grad" in words:
        yield "grad = grads[0]"
    outputs = [output.name for output in gen_differentiable_outputs(matched, key)]
    yield from [f"grad_{name} = grads[{index}]" for index, name in enumerate(outputs) if f"grad_{name}" in words]
    yield "found = []"
    start = 0
    for derivative, text in zip(info.derivatives, texts, strict=True):
        yield from _gradients(derivative, text.text, start)
        start += len(derivative.var_names)


def _gradients(derivative: Derivative, text: str, start: int) -> Iterator[str]:
    count = len(derivative.var_names)
    if count == 1:
        yield f"found += [{_operand(text)} if needs[{start}] else None]"
        return
    needs = f"needs[{start}:{start + count}]"
    if "grad_input_mask" in names_in(text):
        yield f"grad_input_mask = {needs}"
    yield f"found += {_operand(text)} if _builtins.any({needs}) else ({', '.join(['None'] * count)})"


def _operand(text: str) -> str:
    """Return a formula as the first operand of a conditional expression."""
    tree = ast.parse(text, mode="eval").body
    return f"({text})" if isinstance(tree, (ast.IfExp, ast.Lambda)) else text


# ------------------------------------------------------------------------------------------ facts


@dataclass(frozen=True, slots=True)
class _Fact:
    """A property of a tensor that is saved instead of the tensor."""

    argument: str
    attribute: str
    is_called: bool

    @property
    def name(self) -> str:
        """Its name in the formula."""
        return f"_{self.argument}_{self.attribute}"

    def spelled(self) -> str:
        """Return the fact as written in `_derivatives.py`."""
        called = "()" if self.is_called else ""
        return f'("{self.name}", "{self.argument}", lambda tensor: tensor.{self.attribute}{called})'


@dataclass(frozen=True, slots=True)
class _Text:
    """A formula with properties of tensors replaced by the names of saved values."""

    text: str
    facts: tuple[_Fact, ...]

    @staticmethod
    def of(text: str, function: NativeFunction) -> _Text:
        """Return the formula, with tensors whose values it doesn't use replaced by facts."""
        places = list(_places(text, function))
        facts = tuple(dict.fromkeys(fact for _, _, fact in places))
        for start, end, fact in sorted(places, key=lambda place: place[0], reverse=True):
            text = f"{text[:start]}{fact.name}{text[end:]}"
        return _Text(text, facts)


def _places(text: str, function: NativeFunction) -> Iterator[tuple[int, int, _Fact]]:
    """Yield the places where a formula uses a property of a tensor, if it uses only properties of the tensor."""
    tree = ast.parse(text, mode="eval")
    tensors = {
        legal_name(a.name): a.name for a in function.func.arguments.flat_all if a.type == BaseType(BaseTy.Tensor)
    }
    found = {id(owner): place for owner, place in _asked(tree, tensors)}
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    whole = {node.id for node in named if id(node) not in found}
    for node in named:
        if id(node) in found and node.id not in whole:
            asked, fact = found[id(node)]
            assert asked.end_col_offset is not None
            yield _offset(text, asked.col_offset), _offset(text, asked.end_col_offset), fact


def _asked(tree: ast.AST, tensors: dict[str, str]) -> Iterator[tuple[ast.Name, tuple[ast.expr, _Fact]]]:
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call) and not node.args}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or node.value.id not in tensors:
            continue
        argument = tensors[node.value.id]
        call = called.get(id(node))
        if call is None and node.attr in _FACTS:
            yield node.value, (node, _Fact(argument, node.attr, False))
        elif call is not None and not call.keywords and node.attr in _CALLED_FACTS:
            yield node.value, (call, _Fact(argument, node.attr, True))


def _offset(text: str, column: int) -> int:
    """Return the offset of a column, which Python counts in bytes."""
    return len(text.encode()[:column].decode())
