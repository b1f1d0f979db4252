"""The inner loops of an entry → the errors that prevent generating kernels from them.

ops.yaml:9:5: error: 'CPUVector' handles only some cases; a loop for the other cases is missing for Half
[ufunc-incomplete]
    9 |     CPUVector: add_vec (Half)
      |     ^^^^^^^^^ add Half to 'CPUScalar' or 'Generic'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.api import ufunc
from opgen.api.types import BaseCType, UnsupportedTypeError, scalar_t
from opgen.diagnostics import Diagnostic, Note, Span
from opgen.frontend.entries import Entry
from opgen.frontend.entry_fields import DISPATCH, UFUNC_INNER_LOOP
from opgen.frontend.nodes import MappingNode
from opgen.model import UFUNC_DISPATCH_KEYS, BaseTy, BaseType, ScalarType, UfuncKey

_SCALAR_KEYS: Final = (UfuncKey.CPUScalar, UfuncKey.ScalarOnly, UfuncKey.Generic)
_CUDA_KEYS: Final = (UfuncKey.CUDAFunctor, UfuncKey.ScalarOnly, UfuncKey.Generic)
_NEEDS: Final[Mapping[UfuncKey, tuple[UfuncKey, ...]]] = MappingProxyType(
    {
        UfuncKey.CPUVector: _SCALAR_KEYS,
        UfuncKey.CUDAFunctorOnOther: _CUDA_KEYS,
        UfuncKey.CUDAFunctorOnSelf: _CUDA_KEYS,
    }
)
"""Loops that handle only some cases, and the loops that may handle the others."""
_BINARY_KEYS: Final = (UfuncKey.CUDAFunctorOnOther, UfuncKey.CUDAFunctorOnSelf)


def check_ufunc(entry: Entry) -> Iterator[Diagnostic]:
    """Yield the errors in an entry's inner loops."""
    if not entry.function.ufunc_inner_loop:
        return
    yield from _check_kernels(entry)
    yield from _check_arguments(entry)
    yield from _check_coverage(entry)


def check_ufunc_names(entries: Iterable[Entry]) -> Iterator[Diagnostic]:
    """Check that only one overload has inner loops: files and classes are named after the operator."""
    first_by_name: dict[str, Entry] = {}
    for entry in entries:
        if UFUNC_INNER_LOOP not in entry.values.written or not entry.function.ufunc_inner_loop:
            continue
        first = first_by_name.setdefault(entry.function.root_name, entry)
        if first is not entry:
            note = Note(f"'{first.function.func.name}' is here", first.name_span)
            message = f"only one overload of '{entry.function.root_name}' can have inner loops"
            yield Diagnostic("ufunc-overloads", message, _key_span(entry), notes=(note,))


def _key_span(entry: Entry, key: UfuncKey | None = None) -> Span:
    """Return the span of an inner loop's key; of the field if there is no such loop."""
    node = entry.values.node.get(UFUNC_INNER_LOOP.name)
    if key is not None and isinstance(node, MappingNode):
        loop_key = node.key(str(key))
        if loop_key is not None:
            return loop_key.span
    field = entry.values.node.key(UFUNC_INNER_LOOP.name)
    return field.span if field is not None else entry.name_span


def _check_kernels(entry: Entry) -> Iterator[Diagnostic]:
    table = entry.values[DISPATCH]
    for key in UFUNC_DISPATCH_KEYS:
        key_node = (
            None
            if table is None
            else next((k for k, _ in table.entries if str(key) in re.split(r",\s*", k.text)), None)
        )
        if key_node is not None:
            message = f"the kernel for {key} is made from the inner loops, so no other kernel can be named"
            yield Diagnostic("ufunc-with-kernel", message, key_node.span, "remove one of the two")


def _check_arguments(entry: Entry) -> Iterator[Diagnostic]:
    for a in entry.function.func.arguments.flat_non_out:
        try:
            ufunc.ufunc_type(a.type, binds=a.name, compute_t=BaseCType(scalar_t))
        except UnsupportedTypeError as problem:
            message = f"argument '{a.name}': {problem}"
            yield Diagnostic("ufunc-type", message, entry.argument_span(a.name), notes=(_loops_note(entry),))
    tensors = [a for a in entry.function.func.arguments.flat_non_out if a.type == BaseType(BaseTy.Tensor)]
    for key in _BINARY_KEYS:
        if key in entry.function.ufunc_inner_loop and len(tensors) != 2:
            message = f"'{key}' is for operators of two tensors, '{entry.function.func.name}' takes {len(tensors)}"
            yield Diagnostic("ufunc-not-binary", message, _key_span(entry, key), "remove it")


def _loops_note(entry: Entry) -> Note:
    return Note("its kernels are made from these inner loops", _key_span(entry))


def _check_coverage(entry: Entry) -> Iterator[Diagnostic]:
    """Check that each element type has loops for all cases."""
    loops = entry.function.ufunc_inner_loop
    for key, needed in _NEEDS.items():
        if key not in loops:
            continue
        covered = _dtypes(entry, needed)
        missing = [str(dtype) for dtype in loops[key].supported_dtypes if dtype not in covered]
        if missing:
            message = f"'{key}' handles only some cases; a loop for the other cases is missing for {', '.join(missing)}"
            label = f"add {', '.join(missing)} to '{needed[0]}' or '{needed[-1]}'"
            yield Diagnostic("ufunc-incomplete", message, _key_span(entry, key), label)
    for device, needed in (("the CPU", _SCALAR_KEYS), ("CUDA", _CUDA_KEYS)):
        if not _dtypes(entry, needed):
            message = f"'{entry.function.func.name}' has no inner loop for {device}"
            yield Diagnostic("ufunc-incomplete", message, _key_span(entry), f"add '{needed[0]}' or '{needed[-1]}'")


def _dtypes(entry: Entry, keys: Iterable[UfuncKey]) -> frozenset[ScalarType]:
    loops = entry.function.ufunc_inner_loop
    return frozenset(dtype for key in keys if key in loops for dtype in loops[key].supported_dtypes)
