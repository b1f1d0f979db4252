"""Operators → `RegisterBatched.cpp`, their kernels for vmap, and declarations of the authors' batching rules.

Under `torch.func.vmap` a tensor may be batched.  For a pointwise operator (tagged `pointwise`) the batch is
one more dimension, which its kernels broadcast over.  For any other operator, its author may write a batching
rule and name it in the dispatch table under `FuncTorchBatched`; the rule gets each tensor as a value and its
batch dimension.  A composite operator needs no rule, since vmap sees the operators that it calls.  All other
operators run once per batch element, and torch warns about it.

    std::tuple<at::Tensor, std::optional<int64_t>> rowsum_batch_rule(
        const at::Tensor & self, std::optional<int64_t> self_bdim, int64_t dim);
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.api.types import Binding
from opgen.dest.cpp_text import string_literal
from opgen.dest.kernel_calls import Wrapper, block
from opgen.dest.register_unstructured import wrapper_name
from opgen.dispatch_keys import DispatchKey, is_generic_dispatch_key
from opgen.extension.extension import Extension
from opgen.extension.includes import header, operator_headers, render_file
from opgen.extension.operators import call
from opgen.frozen_dataclass import dataclass
from opgen.model import (
    BackendIndex,
    BackendMetadata,
    BaseTy,
    BaseType,
    FunctionSchema,
    ListType,
    NativeFunction,
    OptionalType,
    SchemaKind,
    Type,
)
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_TENSOR: Final = BaseType(BaseTy.Tensor)
UNWRAPPED_TYPES: Final = (_TENSOR, OptionalType(_TENSOR))
"""Types whose values a batching rule takes with their batch dimension."""
_BATCH_DIM: Final = "::std::optional<int64_t>"


@dataclass(frozen=True, slots=True)
class _Registered:
    """The template values of a kernel."""

    operator: str
    name: str
    definition: str


def emit_batching(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterBatched.cpp`, if any operator supports vmap without a rule by its author."""
    functions = [f for f in extension.program.functions if is_batched_by_broadcasting(extension, f)]
    if functions or DispatchKey.FuncTorchBatched in extension.keys:
        yield render_file(extension, templates, "detail/Batching.h", "detail/Batching.h")
    if not functions:
        return
    names = {function.root_name for function in functions}
    yield render_file(
        extension,
        templates,
        "RegisterBatched.cpp",
        "RegisterBatched.cpp",
        includes=[header(extension, "detail/Batching.h"), *operator_headers(extension, "_ops", names)],
        kernels=[_broadcasting_kernel(extension, function) for function in functions],
    )


def is_batched_by_broadcasting(extension: Extension, function: NativeFunction) -> bool:
    """Return whether a kernel can treat the batch as one more dimension and broadcast over it."""
    func = function.func
    tensors = [a for a in func.arguments.flat_all if a.type.is_tensor_like()]
    return (
        "pointwise" in function.tags
        and not function.is_boxed
        and not function.has_composite_implicit_autograd_kernel
        and not _has_batch_rule(extension, function)
        and func.kind() in (SchemaKind.functional, SchemaKind.inplace)
        and bool(tensors)
        and all(a.type == _TENSOR for a in tensors)
        and bool(func.returns)
        and all(r.type == _TENSOR for r in func.returns)
    )


def is_decomposed_by_vmap(extension: Extension, function: NativeFunction, key: DispatchKey) -> bool:
    """Return whether vmap sees the operators that a composite kernel calls, instead of the operator.

    True for CompositeImplicitAutograd kernels, for generated kernels, which call only operators, and for
    operators that torch's vmap fallback doesn't support.
    """
    takes_tensors = any(a.type.is_tensor_like() for a in function.func.arguments.flat_all)
    if not takes_tensors or not is_generic_dispatch_key(key) or _has_batch_rule(extension, function):
        return False
    if is_batched_by_broadcasting(extension, function):
        return False
    is_generated = "generated" in function.tags or "view_copy" in function.tags
    return key is DispatchKey.CompositeImplicitAutograd or is_generated or not _supports_vmap_fallback(function)


def _supports_vmap_fallback(function: NativeFunction) -> bool:
    """Return whether torch's vmap fallback, a loop over the batch, supports the operator."""
    return not function.is_view_op and all(r.type == _TENSOR for r in function.func.returns)


def _has_batch_rule(extension: Extension, function: NativeFunction) -> bool:
    index = extension.program.backend_indices.get(DispatchKey.FuncTorchBatched)
    return index is not None and index.has_kernel(function)


def _broadcasting_kernel(extension: Extension, function: NativeFunction) -> _Registered:
    signature = extension.signatures(function).dispatcher
    kernel = f"batched_{function.func.name.unambiguous_name()}"
    name = string_literal(function.qualified_name)
    tensors = [a.name for a in function.func.arguments.flat_all if a.type == _TENSOR]
    replacements = {tensor: f"operands_[{index}]" for index, tensor in enumerate(tensors)}
    names = [binding.name for binding in signature.arguments]
    result = call(extension, function, ", ".join(replacements.get(n, n) for n in names))
    is_inplace = function.func.kind() is SchemaKind.inplace
    results = [f"{result};", "return self;"] if is_inplace else [f"return detail::batch({result}, level_);"]
    statements = [
        *_enter(function),
        f"const detail::Operands operands_(level_, {{{', '.join(tensors)}}});",
        "if (!operands_.any_batched()) {",
        f"  return {call(extension, function, ', '.join(names))};",
        "}",
        *([f"operands_.check_first_batched({name});"] if is_inplace else []),
        *results,
    ]
    definition = f"{signature.defn(kernel)} {{\n{block(statements)}}}\n"
    return _Registered(string_literal(str(function.func.name)), kernel, definition)


def _enter(function: NativeFunction) -> list[str]:
    """Return the first statements of every kernel under vmap."""
    return [
        "c10::impl::ExcludeDispatchKeyGuard guard_(c10::DispatchKey::FuncTorchBatched);",
        f"const int64_t level_ = detail::innermost_level({', '.join(_tensors(function))});",
    ]


# --------------------------------------------------------------------------- rules of the author's


def batch_rule_signature(extension: Extension, function: NativeFunction, kernel: BackendMetadata) -> str:
    """Return the declaration of a batching rule, without its semicolon."""
    parameters = [p for b in extension.signatures(function).dispatcher.arguments for p in _parameters(b, function)]
    return f"{batch_rule_returns(function.func)} {kernel.kernel}({', '.join(parameters)})"


def batch_rule_returns(func: FunctionSchema) -> str:
    """Return the C++ return type of a batching rule: all results except mutated arguments."""
    fresh = [r.type for r, alias in zip(func.returns, _aliased_arguments(func), strict=True) if alias is None]
    results = [text for type in fresh for text in (_result_type(type), _BATCH_DIM)]
    return f"::std::tuple<{', '.join(results)}>" if results else "void"


def _aliased_arguments(func: FunctionSchema) -> list[str | None]:
    """Return, for each result, the mutated argument that it aliases; None if it is a new value."""
    tensors = {argument.name for argument in func.arguments.flat_all if argument.type == _TENSOR}
    names = zip(func.returns, func.aliased_return_names(), strict=True)
    return [name if returned.is_write and name in tensors else None for returned, name in names]


def _result_type(type: Type) -> str:
    return "::std::vector<at::Tensor>" if isinstance(type, ListType) else "at::Tensor"


def _parameters(binding: Binding, function: NativeFunction) -> Iterator[str]:
    yield binding.defn()
    if _is_unwrapped(binding, function):
        yield f"{_BATCH_DIM} {binding.name}_bdim"


def _is_unwrapped(binding: Binding, function: NativeFunction) -> bool:
    return any(a.name == binding.name and a.type in UNWRAPPED_TYPES for a in function.func.arguments.flat_all)


def wrap_batch_rule(extension: Extension, function: NativeFunction, index: BackendIndex) -> Wrapper:
    """Return the plumbing of a rule, which unwraps batched arguments and wraps the results."""
    kernel = index.index[function.func.name]
    signature = extension.signatures(function).dispatcher
    name = wrapper_name(function, index.dispatch_key)
    names = [binding.name for binding in signature.arguments]
    unwrapped = [b.name for b in signature.arguments if _is_unwrapped(b, function)]
    values = [
        text
        for n in names
        for text in ((f"std::get<0>({n}_parts)", f"std::get<1>({n}_parts)") if n in unwrapped else (n,))
    ]
    rule = f"::{kernel.cpp_namespace}::{kernel.kernel}({', '.join(values)})"
    batched = " || ".join(f"detail::is_batched({n}, level_)" for n in _tensors(function))
    statements = [
        *_enter(function),
        f"if (!({batched})) {{",
        f"  return {call(extension, function, ', '.join(names))};",
        "}",
        *[f"auto {n}_parts = detail::unwrap({n}, level_);" for n in unwrapped],
        *_finish(function, rule, signature.returns.spelled),
    ]
    return Wrapper(function, name, signature, f"{signature.defn(name)} {{\n{block(statements)}}}\n")


def _tensors(function: NativeFunction) -> list[str]:
    return [a.name for a in function.func.arguments.flat_all if a.type.is_tensor_like()]


def _finish(function: NativeFunction, rule: str, returns: str) -> list[str]:
    """Return the statements that call a rule; mutated arguments are returned unchanged."""
    values: list[str] = []
    count = 0
    for alias in _aliased_arguments(function.func):
        if alias is not None:
            values.append(alias)
            continue
        values.append(f"detail::batch(std::get<{2 * count}>(results_), std::get<{2 * count + 1}>(results_), level_)")
        count += 1
    called = f"auto results_ = {rule};" if count else f"{rule};"
    if not values:
        return [called]
    return [called, f"return {values[0]};" if len(values) == 1 else f"return {returns}({', '.join(values)});"]
