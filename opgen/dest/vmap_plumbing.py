r"""The operators → `VmapGeneratedPlumbing.h`: functions that unwrap arguments for batching rules.

Under vmap, a tensor may be a BatchedTensor at some level.  For each operator on tensors, a function
template unwraps such tensors to a value and its batch dimension, calls the batching rule with both, and
rewraps the results.  The rules are handwritten.

    at::Tensor neg_generated_plumbing(const at::Tensor & self) {
      …
      auto [self_value, self_bdim] = unwrapTensorAtLevel(self, cur_level);
      auto results = batch_rule(self_value, self_bdim);
      return makeBatched(std::get<0>(results), std::get<1>(results), cur_level);
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from opgen.model import (
    Argument,
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OptionalType,
    Return,
    SchemaKind,
    Type,
)
from opgen.output.files import OutputFile
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_SNIPPETS: Final = Snippets("vmap_plumbing.cpp")

_TENSOR: Final = BaseType(BaseTy.Tensor)
_OPTIONAL_TENSOR: Final = OptionalType(_TENSOR)

_RETURNING_NUMBERS: Final = frozenset(
    {
        "_scaled_dot_product_cudnn_attention",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention.quantized",
    }
)
"""Operators that get plumbing although they also return other values, which their rules return unchanged."""


def emit_vmap_plumbing(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `VmapGeneratedPlumbing.h`."""
    functions = list(filter(None, map(partial(render_plumbing, program), program.functions)))
    yield OutputFile("VmapGeneratedPlumbing.h", _SNIPPETS.render("header", functions=functions))


def render_plumbing(program: Program, function: NativeFunction) -> str | None:
    """Return the function template for `function`; None if it can't have a batching rule."""
    func = function.func
    arguments = func.arguments.flat_all
    if not any(a.type.is_tensor_like() for a in arguments):
        return None
    call = f"batch_rule({_rule_arguments(arguments)})"
    if not func.returns:
        return _render(program, function, "gen_vmap_plumbing_no_returns", call)
    if not _returns_tensors(func) or "inplace_view" in function.tags:
        return None
    if _changes_self_only(func):
        return _render(program, function, "gen_vmap_inplace_plumbing", call, "return self")
    if func.kind() is not SchemaKind.functional:
        return None
    results = f"return {_batched_results(func.returns)}"
    return _render(program, function, "gen_vmap_plumbing", f"auto results = {call}", results)


def _returns_tensors(func: FunctionSchema) -> bool:
    return all(r.type.is_tensor_like() for r in func.returns) or str(func.name) in _RETURNING_NUMBERS


def _changes_self_only(func: FunctionSchema) -> bool:
    """Return whether this is an in-place form that mutates only its first argument, a tensor."""
    if func.kind() is not SchemaKind.inplace:
        return False
    first, *rest = func.arguments.flat_all
    return first.is_write and first.type == _TENSOR and not any(a.is_write for a in rest)


def _render(program: Program, function: NativeFunction, kind: str, *statements: str) -> str:
    """Return a function template that names its `kind` if it is used outside of vmap.

    `statements` run after tensors are unwrapped; lists of tensors are passed to the rule unchanged.
    """
    name = function.func.name.unambiguous_name()
    arguments = function.func.arguments.flat_all
    batched = [f"!isBatchedAtLevel({a.name}, cur_level)" for a in arguments if a.type.is_tensor_like()]
    return _SNIPPETS.render(
        "plumbing",
        head=program.signatures(function).dispatcher.defn(name + "_generated_plumbing"),
        kind=kind,
        not_batched=" && ".join(batched),
        name=name,
        arguments=[a.name for a in arguments],
        tensors=[a.name for a in arguments if a.type == _TENSOR],
        optional_tensors=[a.name for a in arguments if a.type == _OPTIONAL_TENSOR],
        statements=statements,
    )


def _rule_arguments(arguments: Sequence[Argument]) -> str:
    """Return the rule's arguments: a value and a batch dimension for each unwrapped tensor."""
    return ", ".join(
        [f"{a.name}_value, {a.name}_bdim" if a.type in (_TENSOR, _OPTIONAL_TENSOR) else a.name for a in arguments]
    )


def _batched_results(returns: Sequence[Return]) -> str:
    """Return the plumbing's result, built from the flat tuple `results`."""
    values: list[str] = []
    at = 0
    for returned in returns:
        wrapper = _batching_function(returned.type)
        value = f"std::get<{at}>(results)"
        if wrapper is not None:
            value = f"{wrapper}({value}, std::get<{at + 1}>(results), cur_level)"
        at += 1 if wrapper is None else 2
        values.append(value)
    return values[0] if len(values) == 1 else f"std::make_tuple({', '.join(values)})"


def _batching_function(type: Type) -> str | None:
    """Return the C++ function that wraps a value with its batch dimension; None for values that stay as they are."""
    if type == _TENSOR:
        return "makeBatched"
    return "makeBatchedVector" if isinstance(type, ListType) and type.elem == _TENSOR else None
