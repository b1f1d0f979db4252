r"""All operators → `TraceType_N.cpp`: the kernels that record calls while a model is traced.

While tracing, an operator becomes a node of a graph: its arguments are recorded, tracing pauses, the
operator runs, and its results are recorded.  In-place and out forms are recorded as functional ones if
the tracer requests it.  Operators that return no tensors are not recorded.

    at::Tensor neg(c10::DispatchKeySet ks, const at::Tensor & self) {
      torch::jit::Node* node = nullptr;
      …
      auto result = at::_ops::neg::redispatch(ks & c10::DispatchKeySet(…, c10::DispatchKey::Tracer), self);
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from opgen.api.python import is_factory
from opgen.api.signatures import Signatures
from opgen.dest.autograd_kernels import kernel_name, named_head, returned_value
from opgen.dest.includes import ops_include
from opgen.model import Argument, BaseTy, BaseType, DispatchKey, FunctionSchema, NativeFunction, SchemaKind
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.program import Program

_SNIPPETS: Final = Snippets("trace_type.cpp")

MANUAL_TRACER: Final = frozenset(
    (
        *("_backward", "_fw_primal", "_make_dual", "_version", "copy_", "data", "detach", "detach_", "is_leaf"),
        *("output_nr", "requires_grad_", "resize_", "resize_as_", "retain_grad", "set_data"),
    )
)
"""Operators with handwritten tracing kernels."""

_RECORDED_AS_PARTS: Final = frozenset(
    (
        *("_coalesced", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
        *("convolution", "gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"),
    )
)
"""Operators that are decomposed in the graph, by root name."""

_FUNCTIONAL_NAMES: Final = MappingProxyType({"zero": "zeros_like", "fill": "full_like"})
"""The functional operators that some in-place operators are recorded as; others have the same name."""

_WRITES: Final = frozenset({SchemaKind.inplace, SchemaKind.out})
"""Forms that return their mutated arguments."""

_KEYS_BELOW: Final = "ks & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Tracer)"


def emit_trace_type(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `TraceType_0.cpp` … and `TraceTypeEverything.cpp`."""
    yield from emit_sharded(
        templates,
        "TraceType.cpp",
        {},
        [f for f in program.functions if _has_tracer(f) and not program.has_kernel(DispatchKey.Tracer, f)],
        key=lambda function: function.func.name.name.base,
        item_env=lambda function: _item_env(program.signatures(function)),
        shards=program.release.autograd_shards,
        sharded_keys=("ops_headers", "trace_method_definitions", "trace_wrapper_registrations"),
    )


def _has_tracer(function: NativeFunction) -> bool:
    """Return whether it gets a tracing kernel; those of all operators here are registered in torch's own namespace."""
    return function.namespace == "aten" and function.func.name.text not in MANUAL_TRACER


def should_trace(function: NativeFunction) -> bool:
    """Return whether a call is recorded."""
    func = function.func
    if func.name.name.base in _RECORDED_AS_PARTS:
        return False
    # Compares types directly for speed, since this runs for all arguments.
    for argument in func.arguments.flat_all:
        if isinstance(argument.type, BaseType) and argument.type.name is BaseTy.Storage:
            return False
    return any(returned.type.is_tensor_like() for returned in func.returns)


def _item_env(signatures: Signatures) -> Mapping[str, Sequence[str]]:
    func, kernel = signatures.func, kernel_name(signatures.function)
    registration = _SNIPPETS.render("registration", operator=func.name.text, kernel=kernel)
    return {
        "ops_headers": (ops_include(func.name.name.base, "_ops"),),
        "trace_method_definitions": (_render(signatures, kernel),),
        "trace_wrapper_registrations": (registration,),
    }


def _render(signatures: Signatures, kernel: str) -> str:
    """Return the function that records a call and lets it run."""
    function, dispatcher, names = signatures.function, signatures.dispatcher, signatures.return_names
    before = after = ""
    if should_trace(function):
        before, after = _recorded_inputs(function), _recorded_outputs(names)
    result, returned = _returned(names, function.func.kind())
    redispatch = f"at::_ops::{function.func.name.unambiguous_name()}::redispatch"
    arguments = ", ".join([_KEYS_BELOW, *[binding.name for binding in dispatcher.arguments]])
    return _SNIPPETS.render(
        "kernel",
        head=named_head(dispatcher, kernel),
        before=before,
        call=f"{result}{redispatch}({arguments})",
        after=after,
        returned=returned,
    )


def _returned(names: Sequence[str], kind: SchemaKind) -> tuple[str, str]:
    """Return the variables for a kernel's results, and the statement that returns them; both may be empty."""
    if not names:
        return "", ""
    if kind in _WRITES:
        return "", f"  return {returned_value(names, kind)};\n"
    if len(names) == 1:
        return f"auto {names[0]} = ", f"  return {names[0]};\n"
    moved = ", ".join([f"std::move({name})" for name in names])
    return f"auto [{', '.join(names)}] = ", f"  return std::make_tuple({moved});\n"


# ------------------------------------------------------------------------------ what is recorded


def _recorded_inputs(function: NativeFunction) -> str:
    func = function.func
    name, arguments = func.name.name, func.arguments
    # The graph may have a functional operator instead of an in-place one; `__iand__` stays.
    is_inplace = name.inplace and not name.dunder_method
    inputs = "".join([f'    jit::tracer::addInputs(node, "{a.name}", {a.name});\n' for a in arguments.flat_non_out])
    if arguments.out:
        inputs += _out_inputs(function, arguments.out)
    if name.base in _FUNCTIONAL_NAMES and (arguments.out or is_inplace):
        inputs += _if_outplace(_LIKE_OPTIONS, "")
    unique = ""
    if is_inplace or (arguments.out and not name.dunder_method):
        # Mutated arguments are checked, since the graph's operator mutates nothing.
        out, written = ("_out", arguments.out[0].name) if arguments.out else ("", "self")
        unique = f'    jit::tracer::ensureUniqueIfOutOfPlaced("{name}{out}", {written});\n'
    return _SNIPPETS.render("recorded_inputs", op_name=_op_name(func), inputs=inputs, unique=unique)


def _op_name(func: FunctionSchema) -> str:
    name, text = func.name.name, func.name.name.text
    if name.dunder_method:
        return f'    op_name = c10::Symbol::fromQualString("aten::{text}");\n'
    functional = _FUNCTIONAL_NAMES.get(name.base, name.base if name.inplace else text)
    if func.kind() not in (SchemaKind.inplace, SchemaKind.mutable):
        return f'    op_name = c10::Symbol::fromQualString("aten::{functional}");\n'
    return _if_outplace(
        f'      op_name = c10::Symbol::fromQualString("aten::{functional}");\n',
        f'      op_name = c10::Symbol::fromQualString("aten::{text}");\n',
    )


def _add_inputs(name: str, *values: str) -> str:
    return "".join([f'      jit::tracer::addInputs(node, "{name}", {value});\n' for value in values])


_LIKE_OPTIONS: Final = (
    _add_inputs(
        "options",
        "::std::optional<ScalarType>()",
        "layout_or_default(::std::nullopt)",
        "device_or_default(::std::nullopt)",
        "pinned_memory_or_default(::std::nullopt)",
    )
    + "      ::std::optional<MemoryFormat> memory_format = c10::MemoryFormat::Preserve;\n"
    + _add_inputs("memory_format", "memory_format")
)
"""Arguments of the functional `…_like` operators that the in-place ones don't have."""


def _out_inputs(function: NativeFunction, outs: Sequence[Argument]) -> str:
    """Return statements that record out arguments; the options of a functional factory are those of the first."""
    is_factory_like = function.root_name == "normal" or is_factory(function.func, function.category_override)
    options = _out_options(outs[0].name) if is_factory_like else ""
    return _if_outplace(options, "".join([_add_inputs(out.name, out.name) for out in outs]))


def _out_options(out: str) -> str:
    return _add_inputs(
        out,
        f"c10::optTypeMetaToScalarType({out}.options().dtype_opt())",
        f"{out}.options().layout()",
        f"{out}.options().device()",
        f"{out}.options().pinned_memory()",
    )


def _if_outplace(then: str, otherwise: str) -> str:
    return _SNIPPETS.render("if_outplace", then=then, otherwise=otherwise)


def _recorded_outputs(names: Sequence[str]) -> str:
    outputs = "".join([f"    jit::tracer::addOutput(node, {name});\n" for name in names])
    return _SNIPPETS.render("recorded_outputs", outputs=outputs)
