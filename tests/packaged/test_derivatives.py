"""Our derivatives are right: their formulas, compiled, give the gradients and tangents that torch computes.

The files load against our own definitions, and formulas are run on the calls that torch's samples make.
A formula that calls a function which torch's library keeps to itself is compiled, and not run.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.autograd import forward_ad
from torch.utils._pytree import tree_leaves, tree_map

from opgen.api.python_overloads import DeprecatedForm
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.deprecated import load_deprecated
from opgen.frontend.derivatives import Derivatives, load_derivatives
from opgen.frontend.native_functions import load_program
from opgen.model import Argument, NativeFunctionsViewGroup
from opgen.program.program import Program
from tests.packaged.formula_library import LIBRARY, Formula, build_library, formulas_of, runnable
from tests.packaged.sample_calls import Call, record_calls

PACKAGED = Path(__file__).resolve().parents[2] / "opgen" / "packaged"
FEWEST = 200
FEWEST_COMPARED = 110
CALLS_OF_EACH = 8
"""Most calls that formulas of one operator are run on."""


def _load_program() -> Program:
    log, folder = Diagnostics(), PACKAGED / "ATen" / "native"
    program = load_program(folder / "native_functions.yaml", folder / "tags.yaml", log)
    assert program is not None, log.render()
    return program


@pytest.fixture(scope="module")
def program() -> Program:
    return _load_program()


@pytest.fixture(scope="module")
def derivatives(program: Program) -> Derivatives:
    log = Diagnostics()
    views = [group for group in program.view_grouped if isinstance(group, NativeFunctionsViewGroup)]
    found = load_derivatives(PACKAGED / "autograd" / "derivatives.yaml", program.functions, views, log)
    assert not log.render()
    return found


def test_there_are_many(derivatives: Derivatives) -> None:
    written = [name for name in derivatives if not name.name.base.endswith("_copy")]
    assert len(written) >= FEWEST
    forward = [infos for infos in derivatives.values() if any(info.forward_derivatives for info in infos.values())]
    assert len(forward) >= FEWEST // 2


# --------------------------------------------------------------------------- old signatures

_RANKS = {"addmm": 2, "addr": 1, "baddbmm": 3}
"""How many dimensions the factors of products have."""


def test_old_signatures_mean_what_they_are_said_to(program: Program) -> None:
    log = Diagnostics()
    forms = load_deprecated(PACKAGED / "autograd" / "deprecated.yaml", program.functions, log)
    assert not log.render()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = [str(form.deprecation.schema) for form in forms if not _is_same_call(form)]
    assert not wrong


def _is_same_call(form: DeprecatedForm) -> bool:
    """Whether the old call and the new one that it is said to stand for have the same result."""
    schema, function = form.deprecation.schema, form.function.func
    values = {a.name: _sample_of(schema.name.name.base, a) for a in schema.arguments.flat_all}
    operator = getattr(getattr(torch.ops.aten, str(function.name.name)), function.name.overload_name or "default")
    names = [argument.name for argument in (*function.arguments.out, *function.arguments.flat_non_out)]
    given = [values.get(word, 1) for word in form.deprecation.expressions]
    wanted = operator(**{name: tree_map(_copied, value) for name, value in zip(names, given)})
    positional = [tree_map(_copied, values[argument.name]) for argument in schema.arguments.flat_positional]
    out = {argument.name: torch.empty_like(wanted) for argument in schema.arguments.out}
    if schema.name.name.inplace:
        at = next(index for index, argument in enumerate(schema.arguments.flat_positional) if argument.name == "self")
        method = getattr(positional.pop(at), str(schema.name.name))
        return bool(torch.equal(method(*positional), wanted))
    return bool(torch.equal(getattr(torch, schema.name.name.base)(*positional, **out), wanted))


def _sample_of(base: str, argument: Argument) -> Any:
    if not argument.type.is_tensor_like():
        return len(argument.name)
    is_product = base == "addr" and argument.name in ("self", "out")
    return torch.rand([2] * (2 if is_product else _RANKS.get(base, 2))) + 1


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


# --------------------------------------------------------------------------- formulas


@dataclass
class Comparison:
    """The formulas of some operators, and what came of running them."""

    calls: Mapping[str, Sequence[Call]]
    compared: Counter[str]
    """How often, by operator."""
    wrong: set[str]

    def run(self, formulas: Sequence[Formula]) -> None:
        """Runs formulas of one operator on its calls."""
        for call in self.calls.get(formulas[0].operator, ())[:CALLS_OF_EACH]:
            case = _Case.of(call, formulas[0])
            if case is not None:
                for formula in formulas:
                    self._compare(formula, case)

    def _compare(self, formula: Formula, case: _Case) -> None:
        wanted = case.tangents(formula) if formula.is_forward else case.gradients(formula)
        if wanted is None:
            return
        function = getattr(getattr(torch.ops, LIBRARY), f"formula_{formula.number}")
        got = function(*case.given(formula), *case.plain(), *case.results())
        for found, expected in zip(got, wanted):
            if expected is not None:
                self.compared[formula.operator] += 1
                if not _agree(found, expected):
                    self.wrong.add(f"{formula.operator}, {formula.names}: {formula.text}")


def _agree(found: torch.Tensor, expected: torch.Tensor) -> bool:
    """Whether two gradients are equal, once the engine has summed over what was broadcast."""
    if found.shape != expected.shape:
        found = found.sum_to_size(expected.shape)
    return bool(torch.allclose(found.to(expected.dtype), expected, rtol=1e-6, atol=1e-8, equal_nan=True))


def _is_differentiable(value: Any) -> bool:
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return False
    return bool(value.is_floating_point() or value.is_complex())


@dataclass
class _Case:
    """A call, with gradients for its results and tangents for its arguments."""

    call: Call
    leaves: dict[int, Any]
    """The arguments that get gradients, by place: tensors, or lists of them."""
    outputs: list[torch.Tensor]
    seeds: dict[int, torch.Tensor]
    """Gradients of the results, by place."""
    directions: dict[int, Any]
    """Tangents of the arguments, by place."""
    returns_list: bool

    @staticmethod
    def of(call: Call, formula: Formula) -> _Case | None:
        """A case, if anything in the call has a gradient."""
        info, names = formula.info, list(formula.types)
        wanted = {binding.name for binding in info.args_with_derivatives}
        leaves = {
            place: tree_map(lambda t: t.clone().requires_grad_(), value)
            for place, value in enumerate(call.arguments)
            if names[place] in wanted and value is not None and all(map(_is_differentiable, tree_leaves(value)))
        }
        if not leaves or info.func.func.name.name.inplace:
            return None
        try:
            result = call.with_arguments([leaves.get(place, value) for place, value in enumerate(call.arguments)])
        except (RuntimeError, NotImplementedError):
            return None
        outputs = [result] if isinstance(result, torch.Tensor) else list(result)
        stated = info.output_differentiability or (True,) * len(outputs)
        has_gradient = stated if len(stated) == len(outputs) else stated * len(outputs)
        places = [p for p, output in enumerate(outputs) if has_gradient[p] and _is_differentiable(output)]
        if not all(outputs[place].requires_grad for place in places):
            return None
        seeds = {place: torch.randn_like(outputs[place]) for place in places}
        directions = {place: tree_map(lambda t: torch.randn_like(t).detach(), value) for place, value in leaves.items()}
        returns_list = any(returned.type.is_list_like() for returned in info.func.func.returns)
        return _Case(call, leaves, outputs, seeds, directions, returns_list)

    def plain(self) -> list[Any]:
        """The arguments."""
        return list(self.call.arguments)

    def results(self) -> list[Any]:
        """The results, as formulas take them."""
        found = [output.detach() for output in self.outputs]
        return [found] if self.returns_list else found

    def given(self, formula: Formula) -> list[Any]:
        """What a formula takes before the arguments: gradients, or tangents."""
        if not formula.is_forward:
            return [list(self.seeds.values())]
        places = [place for place, type in enumerate(formula.types.values()) if "Tensor" in type]
        return [self.directions.get(place, _zeros(self.call.arguments[place])) for place in places]

    def gradients(self, formula: Formula) -> list[torch.Tensor | None] | None:
        """The gradients that torch computes, in the order in which the formula gives them."""
        names = list(formula.types)
        inputs = [leaf for name in formula.names for leaf in tree_leaves(self.leaves.get(names.index(name), ()))]
        if not inputs or (len(formula.names) > 1 and len(inputs) != len(formula.names)):
            return None
        outputs = [self.outputs[place] for place in self.seeds]
        try:
            seeds = list(self.seeds.values())
            found = torch.autograd.grad(outputs, inputs, seeds, allow_unused=True, retain_graph=True)
        except RuntimeError:
            return None
        return [torch.zeros_like(leaf) if one is None else one for leaf, one in zip(inputs, found)]

    def tangents(self, formula: Formula) -> list[torch.Tensor | None] | None:
        """The tangents that torch computes of the result that the formula is for."""
        if formula.gives_list or any("Tensor[]" in type for type in formula.types.values()):
            return None
        place = self._place_of(*formula.names)
        with forward_ad.dual_level():
            duals = [
                forward_ad.make_dual(value, self.directions[at]) if at in self.directions else value
                for at, value in enumerate(self.call.arguments)
            ]
            try:
                result = self.call.with_arguments(duals)
            except (RuntimeError, NotImplementedError):
                return None
            output = result if isinstance(result, torch.Tensor) else result[place]
            tangent = forward_ad.unpack_dual(output).tangent
            return [torch.zeros_like(output) if tangent is None else tangent.clone()]

    def _place_of(self, name: str) -> int:
        """Which result has this name: `result`, `result1`, or the schema's name for it."""
        names = [returned.name for returned in self.call.operator._schema.returns]
        return names.index(name) if name in names else int(name.removeprefix("result") or 0)


def _zeros(value: Any) -> Any:
    return tree_map(lambda t: torch.zeros_like(t) if isinstance(t, torch.Tensor) else t, value)


WRONG = """
- name: sin(Tensor self) -> Tensor
  self: grad * self.sin()
  result: self_t
- name: mul.Tensor(Tensor self, Tensor other) -> Tensor
  self: grad * other.conj()
  other: grad * other.conj()
"""
"""Three wrong formulas, and a right one."""


def test_formulas_give_what_torch_computes(program: Program, derivatives: Derivatives, tmp_path: Path) -> None:
    ours = formulas_of(derivatives)
    wrong = formulas_of(load_derivatives(Source("wrong.yaml", WRONG), program.functions, (), Diagnostics()), len(ours))
    build_library((*ours, *wrong), tmp_path)
    calls = record_calls({formula.operator for formula in ours})
    comparison = _compare(ours, calls)
    assert not comparison.wrong, "\n".join(sorted(comparison.wrong))
    assert len(comparison.compared) >= FEWEST_COMPARED
    assert _compare(wrong, calls).wrong == {
        "sin, ('self',): grad * self.sin()",
        "sin, ('result',): self_t",
        "mul.Tensor, ('other',): grad * other.conj()",
    }


def _compare(formulas: Sequence[Formula], calls: Mapping[str, Sequence[Call]]) -> Comparison:
    """Runs the formulas that can be run, operator by operator."""
    by_operator: dict[str, list[Formula]] = {}
    for formula in runnable(formulas):
        if "nondeterministic_seeded" not in formula.info.func.tags:
            by_operator.setdefault(formula.operator, []).append(formula)
    comparison = Comparison(calls, Counter(), set())
    for found in by_operator.values():
        comparison.run(found)
    return comparison
