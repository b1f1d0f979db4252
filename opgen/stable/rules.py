"""Rules for operators of a library in torch's stable ABI.

They follow the rules of extensions.

    ops.yaml:4:43: error: torch's stable ABI can't pass the type 'Scalar' [stable-type]
        4 | - func: mylib::scale(Tensor self, Scalar by) -> Tensor
          |                                   ^^^^^^ no release of torch can: write 'float' or 'int'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from opgen.diagnostics import Diagnostic
from opgen.dispatch_keys import DispatchKey
from opgen.frontend.python_functions import type_span
from opgen.model import NativeFunction
from opgen.program.program import Program
from opgen.releases.known import known_releases
from opgen.releases.release import Release
from opgen.stable.types import find_unsupported

Rule = Callable[[Program, NativeFunction, Release], Iterator[Diagnostic]]


def check_stable(program: Program, release: Release) -> Iterator[Diagnostic]:
    """Yield every violation of a rule; `release` is the oldest torch that the library supports."""
    for function in program.functions:
        if "generated" in function.tags:
            continue
        for rule in _RULES:
            yield from rule(program, function, release)


def _check_types(program: Program, function: NativeFunction, release: Release) -> Iterator[Diagnostic]:
    del program
    releases, func = known_releases(), function.func
    values = [(a.type, a.name, False) for a in func.arguments.flat_all]
    values += [(r.type, r.name or "", True) for r in func.returns]
    for type, name, is_result in values:
        unsupported = find_unsupported(type, release, releases, is_result=is_result)
        if unsupported is not None:
            span = function.loc if is_result else type_span(function, type, name)
            yield Diagnostic("stable-type", unsupported.message, span, unsupported.advice)


def _check_structured(program: Program, function: NativeFunction, release: Release) -> Iterator[Diagnostic]:
    del program, release
    if function.part_of_structured_group:
        message = f"'{function.func.name}' is structured, and torch's stable ABI has no structured kernels"
        label = "write 'dispatch: {CPU: kernel}' for each form, without 'structured' and 'structured_delegate'"
        yield Diagnostic("stable-kernel", message, function.loc, label)
    elif function.ufunc_inner_loop:
        message = f"'{function.func.name}' has 'ufunc_inner_loop', and torch's stable ABI has no loops over tensors"
        yield Diagnostic("stable-kernel", message, function.loc, "write 'dispatch: {CPU: kernel}'")


def _check_views(program: Program, function: NativeFunction, release: Release) -> Iterator[Diagnostic]:
    del program, release
    if function.is_view_op and not function.has_composite_implicit_autograd_kernel:
        message = f"'{function.func.name}' makes a view, and torch's stable ABI can't track views with kernels"
        label = "remove 'dispatch', so that the kernel is made of torch's own views; or return a new tensor"
        yield Diagnostic("stable-kernel", message, function.loc, label)


def _check_batching(program: Program, function: NativeFunction, release: Release) -> Iterator[Diagnostic]:
    del release
    index = program.backend_indices.get(DispatchKey.FuncTorchBatched)
    if index is not None and index.has_kernel(function):
        message = f"'{function.func.name}' has a batching rule in C++, and torch's stable ABI has none"
        label = "remove 'FuncTorchBatched', and call 'torch.library.register_vmap' from Python"
        yield Diagnostic("stable-kernel", message, function.loc, label)


_RULES: Final[tuple[Rule, ...]] = (_check_types, _check_structured, _check_views, _check_batching)
