"""derivatives.yaml → the derivatives of operators, or all errors in the file.

`derivative_entries` reads each entry; this module names the classes of autograd nodes, and gives
`_copy` operators the derivatives of their views.

    - name: mul.Tensor(Tensor self, Tensor other) -> Tensor     mul.Tensor: MulBackward0
    - name: mul.Scalar(Tensor self, Scalar other) -> Tensor     mul.Scalar: MulBackward1
    - name: select.int(Tensor(a) self, …) -> Tensor(a)          select.int: SelectBackward0,
                                                                select_copy.int: SelectBackward0_copy
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.api.autograd import DEFAULT_KEY, DifferentiabilityInfo, Infos, union
from opgen.diagnostics import Diagnostics, Note, Source
from opgen.frontend.derivative_entries import DerivativeEntry, DerivativeSet, read_derivative_entry
from opgen.frontend.nodes import ListNode, load_yaml
from opgen.frontend.torch_functions import TorchFunctions
from opgen.model import NativeFunction, NativeFunctionsViewGroup, OperatorName

Derivatives = Mapping[OperatorName, Infos]
"""The derivatives of operators by name, in the order of the file, then those of `_copy` operators."""


def load_derivatives(
    where: Source | Path,
    functions: Iterable[NativeFunction],
    view_groups: Iterable[NativeFunctionsViewGroup],
    log: Diagnostics,
    *,
    python: TorchFunctions | None = None,
) -> Derivatives:
    """Return the derivatives in a file; errors are logged and skipped.

    Args:
        where: The file.
        functions: The operators that it may name.
        view_groups: Views, whose `_copy` forms have the same derivatives.
        log: Receives all errors.
        python: torch's operators, for formulas in Python; None for formulas in C++.
    """
    root = load_yaml(where, log)
    if root is None:
        return MappingProxyType({})
    if not isinstance(root, ListNode):
        log.error(
            "wrong-kind", "a file of derivatives must be a list", root.span, "start each entry with '- name: ...'"
        )
        return MappingProxyType({})
    by_name = {function.func.name.text: function for function in functions}
    entries = [read_derivative_entry(node, by_name, log, python) for node in root.items]
    infos = dict(_name_nodes(_without_duplicates(entries, log)))
    for view, copy in _copies(view_groups, infos):
        infos[copy.func.name] = _adapt_to_copy(infos[view.func.name], copy)
    return MappingProxyType(infos)


_OPERATOR_ERRORS: Final = frozenset({"unknown-operator", "schema-mismatch"})


def check_formulas(where: Source | Path, functions: Iterable[NativeFunction], log: Diagnostics) -> None:
    """Report the errors in a file of derivatives for definitions that have errors of their own.

    `functions` are the operators that could be read.  Errors about unknown operators or schemas aren't reported,
    since errors in the definitions may cause them.
    """
    errors = Diagnostics()
    load_derivatives(where, functions, (), errors)
    log.extend(each for each in errors.all if each.id not in _OPERATOR_ERRORS)


def used_dispatch_keys(derivatives: Derivatives) -> frozenset[str]:
    """Return the dispatch keys for which any operator has derivatives."""
    return frozenset(key for infos in derivatives.values() for key in infos)


def _without_duplicates(entries: Sequence[DerivativeEntry | None], log: Diagnostics) -> Iterator[DerivativeEntry]:
    first_by_name: dict[OperatorName, DerivativeEntry] = {}
    for entry in filter(None, entries):
        name = entry.operator.function.func.name
        first = first_by_name.setdefault(name, entry)
        if first is entry:
            yield entry
        else:
            note = Note("first given here", first.name.span)
            log.error("duplicate-derivatives", f"'{name}' already has derivatives", entry.name.span, notes=[note])


def _name_nodes(entries: Iterable[DerivativeEntry]) -> Iterator[tuple[OperatorName, Infos]]:
    """Return the derivatives of each entry, with node classes numbered over the whole file."""
    counters: defaultdict[str, Iterator[int]] = defaultdict(count)
    for entry in entries:
        infos = {}
        for key, derivatives in entry.sets.items():
            op = None
            if derivatives.args_with_derivatives:
                prefix = node_class_prefix(entry.operator.function.func.name.name.text, key)
                op = f"{prefix}{next(counters[prefix])}"
            infos[key] = _info(entry, derivatives, op)
        yield entry.operator.function.func.name, MappingProxyType(infos)


def node_class_prefix(operator: str, key: str = DEFAULT_KEY) -> str:
    """Return the prefix of an operator's node names: `NllLossBackward` for `nll_loss_forward`."""
    name = operator.removesuffix("_forward").title().replace("_", "")
    return ("_" if name[:1].isdigit() else "") + name + "Backward" + ("" if key == DEFAULT_KEY else key)


def _info(entry: DerivativeEntry, derivative_set: DerivativeSet, op: str | None) -> DifferentiabilityInfo:
    operator, derivatives = entry.operator, derivative_set.derivatives
    return DifferentiabilityInfo(
        func=operator.function,
        op=op,
        derivatives=derivatives,
        forward_derivatives=derivative_set.forward_derivatives,
        all_saved_inputs=union([each.saved_inputs for each in derivatives]),
        all_saved_outputs=union([each.saved_outputs for each in derivatives]),
        available_named_gradients=operator.named_gradients,
        used_named_gradients=frozenset().union(*[each.named_gradients for each in derivatives]),
        args_with_derivatives=derivative_set.args_with_derivatives,
        non_differentiable_arg_names=derivative_set.non_differentiable_arg_names,
        output_differentiability=operator.stated,
        output_differentiability_conditions=operator.conditions,
        condition_place=operator.condition_place,
        handles_complex=entry.handles_complex,
    )


# -------------------------------------------------------------------------------------- copies


def _copies(
    view_groups: Iterable[NativeFunctionsViewGroup], infos: Derivatives
) -> list[tuple[NativeFunction, NativeFunction]]:
    """Return the views with derivatives whose `_copy` operator has none, each with that operator."""
    copies = {group.view.func.name: (group.view, group.view_copy) for group in view_groups if group.view_copy}
    pairs = [copies[name] for name in infos if name in copies]
    return [(view, copy) for view, copy in pairs if copy.func.name not in infos]


def _adapt_to_copy(infos: Infos, copy: NativeFunction) -> Infos:
    """Return the derivatives of a view, adapted to its `_copy` operator."""
    return MappingProxyType(
        {key: replace(info, func=copy, op=f"{info.op}_copy" if info.op else None) for key, info in infos.items()}
    )
