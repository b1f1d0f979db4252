"""Calls of operators as torch's own samples make them: what is called below autograd, with its arguments.

A sample of `torch.nn.functional.linear` calls `addmm`, `t`, and, in its backward passes, `mm` and `sum`;
so operators that have no samples of their own get some too.
"""

from __future__ import annotations

import random
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DTYPES = (torch.float64, torch.complex128)
SAMPLES_OF_EACH = 3
"""Most samples that are taken of one of torch's functions for one type."""
MOST_CALLS = 16
"""Most calls that are kept of one operator."""


@dataclass(frozen=True)
class Call:
    """One call of an operator."""

    operator: Any
    """The overload, as in `torch.ops.aten.add.Tensor`."""
    arguments: tuple[Any, ...]
    """In the order of the schema, defaults filled in; tensors need no gradients."""

    def with_arguments(self, arguments: Sequence[Any]) -> Any:
        """Calls the operator with other arguments than the recorded ones."""
        schema = self.operator._schema.arguments
        named = {argument.name: value for argument, value in zip(schema, arguments) if argument.kwarg_only}
        return self.operator(*(v for a, v in zip(schema, arguments) if not a.kwarg_only), **named)


class _Recorder(TorchDispatchMode):  # type: ignore[misc]  # torch is Any here
    def __init__(self, wanted: Collection[str], calls: dict[str, list[Call]]) -> None:
        super().__init__()
        self.wanted, self.calls = wanted, calls

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        given = dict(kwargs or {})
        name = str(func).removeprefix("aten.").removesuffix(".default")
        if name in self.wanted and len(self.calls[name]) < MOST_CALLS:
            self.calls[name].append(Call(func, tree_map(_copied, tuple(_filled_in(func, args, given)))))
        return func(*args, **given)


def _copied(value: Any) -> Any:
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _filled_in(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Iterator[Any]:
    for index, argument in enumerate(func._schema.arguments):
        yield args[index] if index < len(args) else kwargs.get(argument.name, argument.default_value)


def record_calls(wanted: Collection[str], seed: int = 0) -> Mapping[str, Sequence[Call]]:
    """Calls of the operators `wanted`, by name and overload: forward, backward, and backward of that."""
    calls: dict[str, list[Call]] = defaultdict(list)
    choose = random.Random(seed)
    torch.manual_seed(seed)
    names = {name.partition(".")[0].rstrip("_") for name in wanted}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function in op_db:
            if names.isdisjoint(_known_as(function)):
                continue
            for sample in _samples(function, choose):
                with _Recorder(wanted, calls):
                    _run(function, sample)
    return calls


def _known_as(function: Any) -> set[str]:
    own = function.name.rpartition(".")[2]
    return {own, function.aten_name, f"linalg_{own}", f"_linalg_{own}", f"_{own}", f"native_{own}", f"{own}_forward"}


def _samples(function: Any, choose: random.Random) -> Iterator[Any]:
    for dtype in DTYPES:
        if dtype in function.dtypes:
            made = list(function.sample_inputs("cpu", dtype, requires_grad=dtype in function.backward_dtypes))
            yield from choose.sample(made, min(len(made), SAMPLES_OF_EACH))


def _run(function: Any, sample: Any) -> None:
    """A sample, its gradients, and theirs; what torch refuses has been recorded all the same."""
    try:
        result = function(sample.input, *sample.args, **sample.kwargs)
        inputs = [t for t in tree_leaves((sample.input, sample.args, sample.kwargs)) if _needs_gradient(t)]
        gradients = _gradients(tree_leaves(result), inputs)
        _gradients(gradients, inputs)
    except (RuntimeError, NotImplementedError, ValueError, IndexError, TypeError):
        return


def _gradients(outputs: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    outputs = [output for output in outputs if _needs_gradient(output)]
    if not outputs or not inputs:
        return []
    seeds = [torch.randn_like(output) for output in outputs]
    return list(torch.autograd.grad(outputs, inputs, seeds, allow_unused=True, create_graph=True))


def _needs_gradient(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad
