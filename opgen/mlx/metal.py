"""An MLX `Operator` → the Metal code for templates.

    describe_metal(softcap)["cases"][0]     {"dtype": "float16", "type": "half"}

A Metal kernel calls a function by the author for each element of the first result.  It gets elements if the
operator is pointwise, else pointers and shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.mlx.cpp import Texts, describe_kernel
from opgen.mlx.model import Argument, Operator
from opgen.mlx.types import METAL_TYPES, Kind

METAL_PARAMETERS: Final = frozenset({Kind.INT, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.BOOL})
"""The kinds of arguments that a Metal kernel can get."""


def why_not_metal(argument: Argument) -> str | None:
    """Return why a Metal kernel can't take an argument; None if it can."""
    if argument.type.is_list:
        return "a list"
    if argument.type.optional:
        return "an optional argument"
    if not argument.type.is_array and argument.type.kind not in METAL_PARAMETERS:
        return f"a value of type '{argument.type}'"
    return None


def describe_metal(operator: Operator) -> Texts:
    """Return the template values of an operator with a Metal kernel."""
    return {
        **describe_kernel(operator),
        "metal_cases": [{"dtype": dtype, "type": METAL_TYPES[dtype]} for dtype in metal_dtypes(operator)],
        "buffers": list(_buffers(operator)),
        "metal_arguments": ", ".join(_call(operator)),
        "bound": list(_bound(operator)),
        "metal_stores": list(_stores(operator)),
        "metal_parameters": ", ".join(_parameters(operator)),
        "metal_returns": _returns(operator),
    }


def metal_dtypes(operator: Operator) -> tuple[str, ...]:
    """Return the dtypes of an operator that Metal supports."""
    return tuple(dtype for dtype in operator.dtypes if dtype in METAL_TYPES)


def _element(operator: Operator, argument: Argument) -> str:
    own = dict(operator.input_dtypes).get(argument.name)
    return "T" if own is None else METAL_TYPES[own]


def _result(operator: Operator, index: int) -> str:
    return METAL_TYPES.get(operator.result_dtypes[index] or "", "T")


def _scalar(argument: Argument) -> str:
    return {Kind.LONG: "long", Kind.DOUBLE: "float"}.get(argument.type.kind, argument.type.kind.cpp)


def _buffers(operator: Operator) -> Iterator[str]:
    """Yield the parameters of the kernel, in the order in which `_bound` binds them."""
    texts: list[str] = []
    for argument in operator.arrays:
        texts.append(f"device const {_element(operator, argument)}* {argument.name}")
        if not operator.pointwise:
            texts += [f"constant int* {argument.name}_shape", f"constant int& {argument.name}_ndim"]
    texts += [f"device {_result(operator, index)}* out{index}" for index in range(operator.result_count)]
    texts += [f"constant {_scalar(argument)}& {argument.name}" for argument in operator.parameters]
    yield from (f"{text} [[buffer({index})]]," for index, text in enumerate(texts))


def _bound(operator: Operator) -> Iterator[str]:
    """Yield the statements that bind what `_buffers` declares."""
    index = 0
    for argument in operator.arrays:
        yield f"encoder_.set_input_array({argument.name}, {index});"
        index += 1
        if not operator.pointwise:
            yield f"detail::bind_shape(encoder_, {argument.name}, {index});"
            index += 2
    for result in range(operator.result_count):
        yield f"encoder_.set_output_array(outputs_[{result}], {index});"
        index += 1
    for argument in operator.parameters:
        value = f"static_cast<float>({argument.name})" if argument.type.kind is Kind.DOUBLE else argument.name
        yield f"encoder_.set_bytes({value}, {index});"
        index += 1


def _call(operator: Operator) -> Iterator[str]:
    for argument in operator.arguments:
        if not argument.type.is_array:
            yield argument.name
        elif operator.pointwise:
            yield f"{argument.name}[index_]"
        else:
            yield from (argument.name, f"{argument.name}_shape", f"{argument.name}_ndim")
    if not operator.pointwise:
        yield from (f"out{index}" for index in range(operator.result_count))
        yield "index_"
    elif operator.result_count > 1:
        yield from (f"out{index}[index_]" for index in range(operator.result_count))


def _stores(operator: Operator) -> Iterator[str]:
    call = f"{operator.metal}({', '.join(_call(operator))})"
    if operator.pointwise and operator.result_count == 1:
        yield f"out0[index_] = static_cast<{_result(operator, 0)}>({call});"
    else:
        yield f"{call};"


def _returns(operator: Operator) -> str:
    return _result(operator, 0) if operator.pointwise and operator.result_count == 1 else "void"


def _parameters(operator: Operator) -> Iterator[str]:
    """Yield the parameters of the author's function."""
    for argument in operator.arguments:
        if not argument.type.is_array:
            yield f"{_scalar(argument)} {argument.name}"
        elif operator.pointwise:
            yield f"{_element(operator, argument)} {argument.name}"
        else:
            yield f"device const {_element(operator, argument)}* {argument.name}"
            yield f"constant int* {argument.name}_shape"
            yield f"int {argument.name}_ndim"
    for index in range(operator.result_count):
        if not operator.pointwise:
            yield f"device {_result(operator, index)}* out{index}"
        elif operator.result_count > 1:
            yield f"device {_result(operator, index)}& out{index}"
    if not operator.pointwise:
        yield "uint index_"
