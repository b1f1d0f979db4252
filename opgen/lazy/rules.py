"""Operators → a diagnostic for each that can't have a node or a kernel of a lazy backend.

    backend.yaml:4:16: error: can't generate a kernel for 'put': it returns nothing, […] [lazy-operator]
        4 | full_codegen: [put]
          |                ^^^ write its kernel by hand, and list it under 'supported'

Nodes hold tensors and values that are known at trace time.  A call only adds a node to the graph, so its results
must be tensors, which are computed later.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Final

from opgen.api.lazy import NON_NATIVE_PROPERTIES, LazyArgument, LazyIrSchema
from opgen.api.types import BaseCType, OptionalCType, UnsupportedTypeError
from opgen.backend.backend_yaml import ExternalBackend
from opgen.diagnostics import Diagnostics, Note, Span
from opgen.frozen_dataclass import dataclass
from opgen.frozen_map import FrozenMap
from opgen.lazy.nodes import non_native_schema
from opgen.model import BaseTy, BaseType, FunctionSchema, ListType, NativeFunction, OperatorName, SchemaKind
from opgen.program.program import Program

_TENSOR: Final = BaseType(BaseTy.Tensor)
_LIST_ONE_FORM: Final = "list one of the two; in-place and out forms are generated from functional ones"
_BY_HAND: Final = "write its kernel by hand, and list it under 'supported'"


@dataclass(frozen=True, slots=True)
class _Reason:
    """The reason why a node or kernel can't be generated."""

    what: str
    fix: str
    is_write: bool = False
    """Whether a kernel could be generated, but would lose mutations."""


def check_lazy(
    backend: ExternalBackend, program: Program, log: Diagnostics, *, needs_tensor: bool = False
) -> ExternalBackend:
    """Log every operator without a possible node or kernel, and nodes whose classes have the same name.

    With `needs_tensor`, a kernel creates its results through its first tensor argument.
    Return the backend without the operators whose generated kernels would lose mutations, which get warnings.
    """
    functions = {function.func.name: function for function in program.functions}
    named: dict[str, Span | None] = {}
    kernels = frozenset(backend.full_codegen)
    left_out: set[OperatorName] = set()
    for name in (*backend.full_codegen, *backend.ir_gen):
        function, span = functions[name], backend.places.get(name)
        is_kernel = name in kernels
        reason = _why_no_node(function.func) or (_why_no_kernel(function, needs_tensor) if is_kernel else None)
        if reason is None:
            _check_name(LazyIrSchema.derive(function.func, symint=False), str(name), span, named, log)
            continue
        what = "kernel" if is_kernel else "node"
        note = Note(f"it is {function.func}", function.loc)
        message = f"can't generate a {what} for '{name}': it {reason.what}"
        if reason.is_write:
            left_out.add(name)
            log.warning("lazy-operator", message, span, f"it is left out; {reason.fix}", [note])
        else:
            log.error("lazy-operator", message, span, reason.fix, [note])
    _check_non_native(backend, named, log)
    return _without(backend, left_out) if left_out else backend


def _without(backend: ExternalBackend, names: Collection[OperatorName]) -> ExternalBackend:
    """Return the backend without the generated kernels of these operators."""
    kernels = FrozenMap((name, kernel) for name, kernel in backend.index.index.items() if name not in names)
    full_codegen = tuple(name for name in backend.full_codegen if name not in names)
    return replace(backend, full_codegen=full_codegen, index=replace(backend.index, index=kernels))


def _check_non_native(backend: ExternalBackend, named: dict[str, Span | None], log: Diagnostics) -> None:
    # The nodes of torch's operators are in another header; names must be unique only within a header.
    named.clear()
    for node in backend.non_native:
        reason = _why_no_node(node.func)
        if reason is not None:
            log.error("lazy-operator", f"can't generate a node for '{node.func.name}': it {reason.what}", node.loc)
            continue
        schema = non_native_schema(node, NON_NATIVE_PROPERTIES, "torch::lazy::Value")
        _check_name(schema, str(node.func.name), node.loc, named, log)


def _check_name(
    schema: LazyIrSchema, operator: str, span: Span | None, named: dict[str, Span | None], log: Diagnostics
) -> None:
    """Log a node whose class has the name of an earlier one."""
    name = schema.node_name
    if name not in named:
        named[name] = span
        return
    message = f"the class of '{operator}' would be '{name}', which already exists"
    note = Note("it is the class of this operator", named[name])
    log.error(
        "lazy-node-name",
        message,
        span,
        _LIST_ONE_FORM,
        [note],
    )


def _why_no_node(func: FunctionSchema) -> _Reason | None:
    """Return why an operator can't be a node; None if it can."""
    try:
        schema = LazyIrSchema.derive(func, symint=True)
    except UnsupportedTypeError as problem:
        return _Reason(f"takes '{problem.type}', which can't be in a graph", _BY_HAND)
    for argument in schema.filtered_args():
        if not _is_representable(argument):
            return _Reason(f"takes '{argument.orig_type} {argument.name}', which can't be in a graph", _BY_HAND)
    return None


def _is_representable(argument: LazyArgument) -> bool:
    """Return whether a node can hold the argument: one value, an optional value, or a stored scalar."""
    ctype = argument.lazy_type
    if not argument.is_lazy_value or isinstance(ctype, BaseCType):
        return True
    return isinstance(ctype, OptionalCType) and isinstance(ctype.elem, BaseCType) and not argument.is_tensor_list


def _why_no_kernel(function: NativeFunction, needs_tensor: bool) -> _Reason | None:
    """Return why an operator can't have a generated kernel; None if it can."""
    func = function.func
    if needs_tensor and not func.arguments.has_tensor_arg():
        return _Reason("takes no tensor, so the device of its results is unknown", _BY_HAND)
    return next(iter(_unsupported_returns(func)), None) or _unsupported_mutations(func)


def _unsupported_returns(func: FunctionSchema) -> Iterator[_Reason]:
    if not func.returns:
        yield _Reason("returns nothing, so there is nothing to compute", _BY_HAND)
    is_one = len(func.returns) == 1
    for returned in func.returns:
        type = returned.type
        if type == _TENSOR or (is_one and isinstance(type, ListType) and type.elem == _TENSOR):
            continue
        if type.is_tensor_like():
            yield _Reason(f"returns '{type}' among other results", _BY_HAND)
        else:
            yield _Reason(f"returns '{type}', which must be known immediately", _BY_HAND)


def _unsupported_mutations(func: FunctionSchema) -> _Reason | None:
    mutated = func.arguments.mutable_arg_names()
    if func.kind() is SchemaKind.mutable:
        return _Reason(f"writes to {_listed(mutated)} and returns something else", _BY_HAND, is_write=True)
    unreturned = [name for name in mutated if name not in func.aliased_return_names()]
    if unreturned:
        return _Reason(f"writes to {_listed(unreturned)}, which it doesn't return", _BY_HAND, is_write=True)
    lists = [a.name for a in func.schema_order_arguments() if a.is_write and a.type != _TENSOR]
    return _Reason(f"writes to {_listed(lists)}, which isn't a tensor", _BY_HAND) if lists else None


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
