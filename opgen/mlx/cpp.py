"""An MLX `Operator` → the C++ code for templates.

describe(scaled_add)["returns"]       "mx::array"
describe(scaled_add)["parameters"]    "const mx::array& a, const mx::array& b, float scale, mx::StreamOrDevice s"
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from opgen.dest.cpp_text import string_literal
from opgen.mlx.model import Argument, Batching, Operator, Results
from opgen.mlx.types import ELEMENT_TYPES

Texts = Mapping[str, object]

_STREAM: Final = "mx::StreamOrDevice s"


def class_name(operator: Operator) -> str:
    """Return the name of an operator's primitive: `ScaledAdd` for `scaled_add`."""
    return "".join(part[:1].upper() + part[1:] for part in operator.name.split("_"))


def returned_type(operator: Operator) -> str:
    """Return the C++ type of what an operator returns."""
    if operator.results is Results.ARRAY:
        return "mx::array"
    if operator.results is Results.LIST:
        return "std::vector<mx::array>"
    return f"std::{operator.results.value}<{', '.join(['mx::array'] * operator.result_count)}>"


def describe(operator: Operator) -> Texts:
    """Return the template values of an operator that all files share."""
    primitive = class_name(operator)
    return {
        "name": operator.name,
        "python_name": operator.python_name,
        "rule": f"{operator.name} ".ljust(90, "-"),
        "primitive": primitive,
        "params": f"{primitive}Params",
        "arrays": f"{primitive}Arrays",
        "returns": returned_type(operator),
        "parameters": ", ".join([*map(_parameter, operator.arguments), _STREAM]),
        "parameters_with_defaults": ", ".join([*_declared(operator), f"{_STREAM} = {{}}"]),
        "arguments": ", ".join([*(argument.name for argument in operator.arguments), "s"]),
        "array_names": ", ".join(argument.name for argument in operator.arrays),
        "doc_lines": operator.doc.split("\n") if operator.doc else [],
        "doc_literal": string_literal(operator.doc),
        "binding_arguments": [f"{text}," for text in _binding_arguments(operator)],
        "members": list(_members(operator)),
        "member_values": ", ".join(_member_values(operator)),
        "array_members": [_array_member(operator, argument) for argument in operator.arrays],
        "unpacked": [f"{_unpacked(argument)}," for argument in operator.arrays],
        "locals": list(_locals(operator)),
        "gradients": [_gradient(operator, index) for index in range(len(operator.gradients))],
        "gradient_locals": list(_gradient_locals(operator)),
        "expression": operator.composite or "",
        "results": _results(operator),
    }


def _parameter(argument: Argument) -> str:
    return f"{argument.type.cpp_parameter} {argument.name}"


def _declared(operator: Operator) -> Iterator[str]:
    """Yield the parameters with their defaults: in C++, all parameters after one with a default need one as well."""
    last = max((i for i, each in enumerate(operator.arguments) if each.default is None), default=-1)
    for index, argument in enumerate(operator.arguments):
        default = argument.default if index > last else None
        yield _parameter(argument) + ("" if default is None else f" = {default.cpp}")


def _binding_arguments(operator: Operator) -> Iterator[str]:
    """Yield nanobind's annotations of the arguments; those after `*`, and the stream, are keyword-only."""
    positional = [argument for argument in operator.arguments if not argument.keyword_only]
    named = [argument for argument in operator.arguments if argument.keyword_only]
    yield from map(_binding_argument, positional)
    yield "nb::kw_only()"
    yield from map(_binding_argument, named)
    yield '"stream"_a = nb::none()'


def _binding_argument(argument: Argument) -> str:
    return f'"{argument.name}"_a' + ("" if argument.default is None else f" = {argument.default.binding}")


# ------------------------------------------------------------------------- parameters and arrays


def _members(operator: Operator) -> Iterator[Mapping[str, str]]:
    for argument in operator.arguments:
        if not argument.type.is_array:
            yield {"type": argument.type.cpp_value, "name": argument.name}
        elif argument.type.is_list:
            yield {"type": "size_t", "name": f"{argument.name}_count_"}
        elif argument.type.optional:
            yield {"type": "bool", "name": f"{argument.name}_given_"}


def _member_values(operator: Operator) -> Iterator[str]:
    for argument in operator.arguments:
        if not argument.type.is_array:
            yield argument.name
        elif argument.type.is_list:
            yield f"{argument.name}.size()"
        elif argument.type.optional:
            yield f"{argument.name}.has_value()"


def _array_member(operator: Operator, argument: Argument) -> Mapping[str, str]:
    own = dict(operator.input_dtypes).get(argument.name)
    return {
        "type": argument.type.cpp_value,
        "name": argument.name,
        "dtype": "dtype_" if own is None else f"mx::{own}",
    }


def _unpacked(argument: Argument) -> str:
    if argument.type.is_list:
        return f"detail::take(inputs, at, params.{argument.name}_count_)"
    if argument.type.optional:
        return f"params.{argument.name}_given_ ? std::optional(inputs[at++]) : std::nullopt"
    return "inputs[at++]"


def _locals(operator: Operator) -> Iterator[str]:
    """Yield statements that unpack the arguments from `arrays_` and `params_`."""
    for argument in operator.arguments:
        whole = "arrays_" if argument.type.is_array else "params_"
        yield f"[[maybe_unused]] const auto& {argument.name} = {whole}.{argument.name};"


def _results(operator: Operator) -> str:
    """Return the expression that the function returns, in terms of `results_`."""
    if operator.results is Results.ARRAY:
        return "results_[0]"
    if operator.results is Results.LIST:
        return "results_"
    return f"{returned_type(operator)}{{{', '.join(f'results_[{index}]' for index in range(operator.result_count))}}}"


# ------------------------------------------------------------------------------------- gradients


def _gradient(operator: Operator, index: int) -> Mapping[str, str]:
    gradient, argument = operator.gradients[index], operator.arrays[index]
    given, count = f"params_.{argument.name}_given_", f"params_.{argument.name}_count_"
    return {
        "formula": gradient.formula or "",
        "count": count if argument.type.is_list else given if argument.type.optional else "1",
    }


def _gradient_locals(operator: Operator) -> Iterator[str]:
    if operator.result_count == 1:
        yield "[[maybe_unused]] const auto& grad = cotangents_[0];"
        yield "[[maybe_unused]] const auto& grad_out = grad;"
        yield "[[maybe_unused]] const auto& out = outputs_[0];"
        return
    for index in range(operator.result_count):
        yield f"[[maybe_unused]] const auto& grad{index} = cotangents_[{index}];"
        yield f"[[maybe_unused]] const auto& out{index} = outputs_[{index}];"


# --------------------------------------------------------------------------------------- kernels


def describe_kernel(operator: Operator) -> Texts:
    """Return the template values of a primitive operator, including those that all files share."""
    batching = operator.batching
    return {
        **describe(operator),
        "cpu": operator.cpu or "",
        "metal": operator.metal or "",
        "pointwise": operator.pointwise,
        "is_single": operator.results is Results.ARRAY,
        "result_count": operator.result_count,
        "result_dtypes": ", ".join(_result_dtype(dtype) for dtype in operator.result_dtypes),
        "promoted": ", ".join(argument.name for argument in operator.promoted),
        "supported": ", ".join(f"mx::{dtype}" for dtype in operator.dtypes),
        "given_dtypes": [
            dtype for dtype in dict.fromkeys(operator.result_dtypes) if dtype and dtype not in ELEMENT_TYPES
        ],
        "shapes": ", ".join(f"detail::as_shape({shape})" for shape in operator.shapes),
        "switched": _switched(operator),
        "cases": [{"dtype": dtype, "type": ELEMENT_TYPES[dtype]} for dtype in _switched_dtypes(operator)],
        "array_count": len(operator.arrays),
        "pointers": ", ".join(f"detail::pointer({argument.name})" for argument in operator.arrays),
        "indices": ", ".join(f"size_t {argument.name}_at_" for argument in operator.arrays),
        "captures": ", ".join(_captures(operator)),
        "body": list(_pointwise_body(operator)) if operator.pointwise else [],
        "kernel_arguments": ", ".join(_kernel_arguments(operator)),
        "kernel_prefix": _kernel_prefix(operator),
        "kernel_returns": _kernel_returns(operator),
        "kernel_parameters": ", ".join(_kernel_parameters(operator)),
        "jvp": "pointwise_jvp" if operator.pointwise and "complex64" not in operator.dtypes else "transposed_jvp",
        "batches_by_loop": batching is Batching.LOOP,
        "batches_axes": batching in (Batching.POINTWISE, Batching.LEADING),
        "batches_all": "true" if batching is Batching.LEADING else "false",
        "can_batch": batching is not Batching.NONE,
        "batched_arguments": [{"name": name, "expression": text} for name, text in operator.batched_arguments],
    }


def _result_dtype(dtype: str | None) -> str:
    if dtype is None:
        return "dtype_"
    return f"mx::{dtype}" if dtype in ELEMENT_TYPES else dtype


def _switched(operator: Operator) -> str:
    """Return the dtype that selects the kernel."""
    if not operator.promoted:
        return "outputs_[0].dtype()"
    return f"detail::flat({', '.join(argument.name for argument in operator.promoted)})[0].dtype()"


def _switched_dtypes(operator: Operator) -> tuple[str, ...]:
    """Return the dtypes that the kernel is compiled for."""
    first = operator.result_dtypes[0]
    return (first,) if not operator.promoted and first is not None and first in ELEMENT_TYPES else operator.dtypes


def _element(operator: Operator, argument: Argument) -> str:
    own = dict(operator.input_dtypes).get(argument.name)
    return "T" if own is None else ELEMENT_TYPES[own]


def _result_element(operator: Operator, index: int) -> str:
    dtype = operator.result_dtypes[index]
    return ELEMENT_TYPES.get(dtype or "", "T")


def _captures(operator: Operator) -> Iterator[str]:
    """Yield the captures of the lambda that runs on the stream: pointers or views, and the other arguments."""
    function = "data" if operator.pointwise else "view"
    for argument in operator.arrays:
        yield f"{argument.name}_ = detail::{function}<{_element(operator, argument)}>({argument.name})"
    for index in range(operator.result_count):
        element = _result_element(operator, index)
        data = f"outputs_[{index}].data<{element}>()"
        yield (
            f"out{index}_ = {data}"
            if operator.pointwise
            else f"out{index}_ = View<{element}>({data}, outputs_[{index}])"
        )
    yield from (argument.name for argument in operator.parameters)


def _kernel_arguments(operator: Operator) -> Iterator[str]:
    for argument in operator.arguments:
        yield f"{argument.name}_" if argument.type.is_array else argument.name
    yield from (f"out{index}_" for index in range(operator.result_count))


def _pointwise_body(operator: Operator) -> Iterator[str]:
    call = f"{operator.cpu}({', '.join(map(_loaded, operator.arguments))})"
    if operator.results is Results.ARRAY:
        yield f"out0_[index_] = static_cast<{_result_element(operator, 0)}>({call});"
        return
    yield f"const auto results_ = {call};"
    for index in range(operator.result_count):
        element = _result_element(operator, index)
        yield f"out{index}_[index_] = static_cast<{element}>(std::get<{index}>(results_));"


def _loaded(argument: Argument) -> str:
    """Return the value that a pointwise kernel gets for an argument."""
    if not argument.type.is_array:
        return argument.name
    if argument.type.optional:
        return f"detail::load_optional({argument.name}_, {argument.name}_at_)"
    return f"detail::load({argument.name}_[{argument.name}_at_])"


# ------------------------------------------------------------------------------------- skeletons


def _kernel_prefix(operator: Operator) -> str:
    """Return the template header of the author's CPU kernel; empty if all its dtypes are fixed."""
    texts = [_kernel_returns(operator), *_kernel_parameters(operator)]
    return "template <typename T>" if any(re.search(r"\bT\b", text) for text in texts) else "inline"


def _kernel_returns(operator: Operator) -> str:
    """Return the return type of the author's CPU kernel."""
    if not operator.pointwise:
        return "void"
    elements = [_result_element(operator, index) for index in range(operator.result_count)]
    return elements[0] if operator.results is Results.ARRAY else f"std::{operator.results.value}<{', '.join(elements)}>"


def _kernel_parameters(operator: Operator) -> Iterator[str]:
    """Yield the parameters of the author's CPU kernel."""
    for argument in operator.arguments:
        if not argument.type.is_array:
            yield _parameter(argument)
            continue
        element = _element(operator, argument)
        inner = element if operator.pointwise else f"View<const {element}>"
        if argument.type.is_list:
            yield f"const std::vector<{inner}>& {argument.name}"
        else:
            yield f"std::optional<{inner}> {argument.name}" if argument.type.optional else f"{inner} {argument.name}"
    if not operator.pointwise:
        for index in range(operator.result_count):
            suffix = str(index) if operator.result_count > 1 else ""
            yield f"View<{_result_element(operator, index)}> out{suffix}"
