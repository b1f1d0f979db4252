"""A form without a kernel in a backend outside of torch → a wrapper that calls the functional form's kernel.

Such a backend needs only functional kernels: the results are copied to the out arguments or the mutated
arguments.

    at::Tensor & wrapper_XLA_out_abs_out(const at::Tensor & self, at::Tensor & out) {
      auto wrapper_XLA_out_abs_out_tmp = wrapper_XLA__abs(self);
      at::_copy_from_and_resize(wrapper_XLA_out_abs_out_tmp, out);
      return out;
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from opgen.api.translate import call_arguments
from opgen.api.types import CONST_TENSOR, Binding, CType, Expr, NamedCType
from opgen.dest.kernel_calls import KernelCalls, Wrapper, block
from opgen.dest.register_unstructured import wrapper_name
from opgen.model import (
    Argument,
    BackendIndex,
    BaseTy,
    BaseType,
    NativeFunction,
    NativeFunctionsGroup,
    SchemaKind,
)

_COPY: Final = "at::_copy_from"
_COPY_AND_RESIZE: Final = "at::_copy_from_and_resize"


def wrap_functional(
    calls: KernelCalls, group: NativeFunctionsGroup, function: NativeFunction, index: BackendIndex
) -> Wrapper:
    """Return the wrapper of one form of a group, the functional form of which has a kernel in `index`."""
    name, functional = wrapper_name(function, index.dispatch_key), group.functional
    signature = calls.program.signatures(function).dispatcher
    arguments = call_arguments(
        _at_hand(function, signature.arguments), calls.program.signatures(functional).dispatcher.arguments
    )
    results = _results(functional, f"{name}_tmp")
    statements = [
        f"auto {name}_tmp = {wrapper_name(functional, index.dispatch_key)}({arguments});",
        *_copies(function, results),
        _return(function, results, signature.returns),
    ]
    return Wrapper(function, name, signature, f"{signature.defn(name)} {{\n{block(statements)}}}")


def _at_hand(function: NativeFunction, arguments: Sequence[Binding]) -> list[Expr | Binding]:
    """Return the values for the call; the functional form's tensor options are those of the first result."""
    outs = function.func.arguments.out
    options_of = [Expr(outs[0].name, NamedCType("out", CONST_TENSOR))] if outs else []
    return [*options_of, *arguments]


def _results(functional: NativeFunction, value: str) -> list[str]:
    """Return the results of the functional form, as expressions."""
    count = len(functional.func.returns)
    return [value] if count == 1 else [f"std::get<{at}>({value})" for at in range(count)]


def _fresh(function: NativeFunction) -> int:
    """Return the number of new results, which precede the mutated arguments."""
    if function.func.kind() is SchemaKind.out:
        return 0
    return sum(alias is None for alias in function.func.aliased_return_names())


def _copies(function: NativeFunction, results: Sequence[str]) -> Iterator[str]:
    """Yield the statements that copy results to out arguments, which are resized, and to other mutated arguments."""
    arguments = function.func.arguments
    changed = [argument for argument in arguments.flat_non_out if argument.is_write]
    targets = [*arguments.out, *changed]
    for at, (result, target) in enumerate(zip(results[_fresh(function) :], targets, strict=True)):
        yield from _copy(result, target, _COPY_AND_RESIZE if at < len(arguments.out) else _COPY)


def _copy(result: str, target: Argument, copy: str) -> Iterator[str]:
    if _is_tensor(target):
        yield f"{copy}({result}, {target.name});"
        return
    yield f"for (int64_t i = 0; i < {result}.size(); ++i) {{"
    yield f"  {copy}({result}[i], {target.name}[i]);"
    yield "}"


def _is_tensor(argument: Argument) -> bool:
    return isinstance(argument.type, BaseType) and argument.type.name is BaseTy.Tensor


def _return(function: NativeFunction, results: Sequence[str], returns: CType) -> str:
    """Return the statement that returns the out arguments, the mutated arguments, or the results."""
    func = function.func
    if not func.returns:
        return "return;"
    if func.kind() is SchemaKind.out:
        values = [argument.name for argument in func.arguments.out]
    else:
        fresh = iter(results)
        values = [next(fresh) if alias is None else alias for alias in func.aliased_return_names()]
    return f"return {values[0]};" if len(values) == 1 else f"return {returns}({', '.join(values)});"
