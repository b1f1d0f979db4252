r"""All operators → `TraceType_N.cpp`: what stands between the dispatcher and kernels while a model is traced.

While tracing, an operator becomes a node of a graph: its arguments are recorded, tracing pauses, the
operator runs, and its results are recorded.  In place and out forms are recorded as functional ones
if the tracer asks for that.  Operators that return no tensors only run.

    at::Tensor neg(c10::DispatchKeySet ks, const at::Tensor & self) {
      torch::jit::Node* node = nullptr;
      …
      auto result = at::_ops::neg::redispatch(ks & c10::DispatchKeySet(…, c10::DispatchKey::Tracer), self);
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from opgen.api import cpp
from opgen.api.python import is_factory
from opgen.api.signatures import Signatures
from opgen.dest.autograd_kernels import kernel_head, kernel_name, returned_value
from opgen.dest.includes import ops_include
from opgen.model import BaseTy, BaseType, NativeFunction, SchemaKind
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.template import TemplateSet
from opgen.program import Program

SHARDS: Final = 10
"""How many files the functions are split over."""

MANUAL_TRACER: Final = frozenset(
    (
        *("_backward", "_fw_primal", "_make_dual", "_version", "copy_", "data", "detach", "detach_", "is_leaf"),
        *("output_nr", "requires_grad_", "resize_", "resize_as_", "retain_grad", "set_data"),
    )
)
"""Operators whose tracing is written by hand."""

_RECORDED_AS_PARTS: Final = frozenset(
    (
        *("_coalesced", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"),
        *("convolution", "gru_cell", "lstm_cell", "rnn_relu_cell", "rnn_tanh_cell"),
    )
)
"""Operators of which the graph is to have the parts, by the name that their forms share."""

_FUNCTIONAL_NAMES: Final = MappingProxyType({"zero": "zeros_like", "fill": "full_like"})
"""The functional operators that some in place ones are recorded as; others are called alike."""

_STORAGE: Final = BaseType(BaseTy.Storage)


def emit_trace_type(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yields `TraceType_0.cpp` … and `TraceTypeEverything.cpp`."""
    yield from emit_sharded(
        templates,
        "TraceType.cpp",
        {},
        [function for function in program.functions if _has_tracer(function)],
        key=lambda function: function.root_name,
        item_env=lambda function: _item_env(program.signatures(function)),
        shards=SHARDS,
        sharded_keys=("ops_headers", "trace_method_definitions", "trace_wrapper_registrations"),
    )


def _has_tracer(function: NativeFunction) -> bool:
    """Whether it gets a tracing kernel; those of all operators here are registered in torch's own namespace."""
    return function.namespace == "aten" and str(function.func.name) not in MANUAL_TRACER


def should_trace(function: NativeFunction) -> bool:
    """Whether a call is recorded."""
    func = function.func
    if any(argument.type == _STORAGE for argument in func.arguments.flat_all):
        return False
    return function.root_name not in _RECORDED_AS_PARTS and any(r.type.is_tensor_like() for r in func.returns)


def _item_env(signatures: Signatures) -> Mapping[str, list[str]]:
    function = signatures.function
    registration = f'm.impl("{function.func.name}",\n       TORCH_FN(TraceType::{kernel_name(function)})\n);\n'
    return {
        "ops_headers": [ops_include(function.root_name, "_ops")],
        "trace_method_definitions": [render_function(signatures)],
        "trace_wrapper_registrations": [registration],
    }


def render_function(signatures: Signatures) -> str:
    """The function that records a call and lets it run."""
    is_traced = should_trace(signatures.function)
    body = "".join(
        [
            _recorded_inputs(signatures) if is_traced else "",
            _redispatch(signatures),
            _recorded_outputs(signatures) if is_traced else "",
            _return(signatures),
        ]
    )
    return f"{kernel_head(signatures.dispatcher, signatures.function)} {{\n{body}}}\n"


# ------------------------------------------------------------------------------ what is recorded


def _recorded_inputs(signatures: Signatures) -> str:
    function = signatures.function
    return (
        "  torch::jit::Node* node = nullptr;\n"
        "  std::shared_ptr<jit::tracer::TracingState> tracer_state;\n"
        "  if (jit::tracer::isTracing()) {\n"
        "    tracer_state = jit::tracer::getTracingState();\n"
        "    at::Symbol op_name;\n"
        f"{_op_name(function)}"
        "    node = tracer_state->createNode(op_name, /*num_outputs=*/0);\n"
        "    jit::tracer::recordSourceLocation(node);\n"
        f"{_inputs(function)}"
        "    tracer_state->insertNode(node);\n"
        f"{_uniqueness(signatures)}"
        "    jit::tracer::setTracingState(nullptr);\n"
        "  }\n"
    )


def _is_inplace(function: NativeFunction) -> bool:
    """Whether the graph may have a functional operator in its place; an `__iand__` stays what it is."""
    name = function.func.name.name
    return name.inplace and not name.dunder_method


def _op_name(function: NativeFunction) -> str:
    name = function.func.name.name
    if name.dunder_method:
        return _symbol(4, str(name))
    functional = _FUNCTIONAL_NAMES.get(name.base, name.base if name.inplace else str(name))
    if function.func.kind() not in (SchemaKind.inplace, SchemaKind.mutable):
        return _symbol(4, functional)
    return (
        "    if (tracer_state->force_outplace) {\n"
        f"{_symbol(6, functional)}"
        "    } else {\n"
        f"{_symbol(6, str(name))}"
        "    }\n"
    )


def _symbol(indent: int, name: str) -> str:
    return f'{" " * indent}op_name = c10::Symbol::fromQualString("aten::{name}");\n'


def _add_inputs(name: str, *values: str) -> str:
    return "".join([f'jit::tracer::addInputs(node, "{name}", {value});\n' for value in values])


_LIKE_OPTIONS: Final = (
    _add_inputs(
        "options",
        "::std::optional<ScalarType>()",
        "layout_or_default(::std::nullopt)",
        "device_or_default(::std::nullopt)",
        "pinned_memory_or_default(::std::nullopt)",
    )
    + "::std::optional<MemoryFormat> memory_format = c10::MemoryFormat::Preserve;\n"
    + _add_inputs("memory_format", "memory_format")
)
"""What the functional `…_like` operators take beside the arguments of the in place ones."""


def _inputs(function: NativeFunction) -> str:
    arguments = function.func.arguments
    lines = "".join([f"    {_add_inputs(a.name, a.name)}" for a in arguments.flat_non_out])
    if arguments.out:
        options = _out_options(arguments.out[0].name) if _makes_its_out(function) else ""
        lines += _if_outplace(options, "".join([_add_inputs(a.name, a.name) for a in arguments.out]))
    if function.root_name in _FUNCTIONAL_NAMES and (arguments.out or _is_inplace(function)):
        lines += _if_outplace(_LIKE_OPTIONS, "")
    return lines


def _makes_its_out(function: NativeFunction) -> bool:
    """Whether the functional form is a factory: its options then are those of the out tensor."""
    return function.root_name == "normal" or is_factory(function.func, function.category_override)


def _out_options(out: str) -> str:
    return _add_inputs(
        out,
        f"c10::optTypeMetaToScalarType({out}.options().dtype_opt())",
        f"{out}.options().layout()",
        f"{out}.options().device()",
        f"{out}.options().pinned_memory()",
    )


def _if_outplace(then: str, otherwise: str) -> str:
    return (
        "    if (tracer_state->force_outplace) {\n"
        f"{_indented(then, 6)}"
        "    } else {\n"
        f"{_indented(otherwise, 6)}"
        "    }\n"
    )


def _indented(lines: str, by: int) -> str:
    return "".join([f"{' ' * by}{line}" for line in lines.splitlines(keepends=True)])


def _uniqueness(signatures: Signatures) -> str:
    """A check of what is written to, since the graph's operator writes to nothing."""
    func = signatures.func
    if func.is_out_fn() and not func.name.name.dunder_method:
        written = func.arguments.out[0].name
    elif _is_inplace(signatures.function):
        written = "self"
    else:
        return ""
    name = cpp.name(func)
    return f'    jit::tracer::ensureUniqueIfOutOfPlaced("{name}", {written});\n'


def _recorded_outputs(signatures: Signatures) -> str:
    outputs = "".join([f"    jit::tracer::addOutput(node, {name});\n" for name in signatures.return_names])
    return f"  if (tracer_state) {{\n    jit::tracer::setTracingState(std::move(tracer_state));\n{outputs}  }}\n"


# ----------------------------------------------------------------------------------- what is run

_KEYS_BELOW: Final = "ks & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Tracer)"


def _returns_arguments(signatures: Signatures) -> bool:
    """Whether what is returned is what was written to."""
    return signatures.func.kind() in (SchemaKind.inplace, SchemaKind.out)


def _redispatch(signatures: Signatures) -> str:
    arguments = ", ".join([_KEYS_BELOW, *(binding.name for binding in signatures.dispatcher.arguments)])
    call = f"at::_ops::{signatures.func.name.unambiguous_name()}::redispatch({arguments});\n"
    names = signatures.return_names
    if not names or _returns_arguments(signatures):
        return f"  {call}"
    result = names[0] if len(names) == 1 else f"[{', '.join(names)}]"
    return f"  auto {result} = {call}"


def _return(signatures: Signatures) -> str:
    names = signatures.return_names
    if len(names) > 1 and not _returns_arguments(signatures):
        names = tuple([f"std::move({name})" for name in names])
    return f"  return {returned_value(names, signatures.func.kind())};\n" if names else ""
