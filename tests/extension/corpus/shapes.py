"""Makes the shapes: an operator for each type in each position, with a value to call it with and what comes back.

An echo returns the argument that it was given, so a value passes both ways through every convention on its way.

    echo_p_12(Tensor x, Dict(str, int) a) -> Dict(str, int)      called with {"a": 1}, returns {"a": 1}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Final

import torch

_ONES: Final = torch.ones(2)

BASES: Final[dict[str, Any]] = {
    "Tensor": _ONES,
    "int": 3,
    "SymInt": 4,
    "float": 1.5,
    "bool": True,
    "str": "a text that is too long to be kept within its object",
    "Scalar": 2.5,
    "complex": 1 + 2j,
    "ScalarType": torch.float64,
    "Device": torch.device("cpu"),
    "Layout": torch.strided,
    "MemoryFormat": torch.channels_last,
    "Any": 7,
    "int[]": [1, 2],
    "str[]": ["one", "two"],
    "Dict(str, Tensor)": {"a": _ONES},
    "Dict(int, str)": {1: "one"},
    "(int, Tensor)": (1, _ONES),
    "(str, float, bool)": ("s", 0.5, False),
}
"""The types that others are made of, with a value of each."""
_NO_ELEMENT: Final = frozenset({"ScalarType", "Device", "Layout", "MemoryFormat"})
"""Types that lists hold in C++, but that torch gives Python back as numbers."""


@dataclass(frozen=True)
class Shape:
    """An operator of the corpus."""

    name: str
    schema: str
    """Without a namespace."""
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    """What the operator returns; that of an operator that writes is None."""
    written: bool = False
    """Whether each tensor that it is given, `x` apart, has grown by 1 afterwards."""


def wrapped(type: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The type alone, optional, in lists and in both, with values."""
    yield type, value
    yield f"{type}?", value
    yield f"{type}?", None
    if type not in _NO_ELEMENT:
        yield f"{type}[]", [value, value]
        yield f"{type}[]?", [value]
        yield f"{type}[]?", None
        yield f"{type}?[]", [value, None]
        yield f"{type}[][]", [[value], [value, value]]


def echoes() -> Iterator[Shape]:
    """Every type as an argument and as the result, by place and by name."""
    types = [each for type, value in BASES.items() for each in wrapped(type, value)]
    for index, (type, value) in enumerate(types):
        returned = f"({type})" if type.startswith("(") and not type.endswith(")") else type
        yield Shape(f"echo_p_{index}", f"(Tensor x, {type} a) -> {returned}", (_ONES, value), {}, value)
        yield Shape(f"echo_k_{index}", f"(Tensor x, *, {type} a) -> {returned}", (_ONES,), {"a": value}, value)


def pairs() -> Iterator[Shape]:
    """Two types at a time, of which the second comes back beside a tensor."""
    for index, ((one, first), (other, second)) in enumerate(product(BASES.items(), BASES.items())):
        if index % 3 == 0:
            schema = f"(Tensor x, {one} b, {other} a) -> (Tensor, {other})"
            yield Shape(f"pair_{index}", schema, (_ONES, first, second), {}, (_ONES, second))


WRITTEN: Final = ("Tensor(a!)", "Tensor!", "Tensor(a!)?", "Tensor(a!)[]", "Tensor![]")


def writes() -> Iterator[Shape]:
    """Tensors that are written to, alone and beside other arguments, with all kinds of results."""
    results = (("()", None), ("Tensor", _ONES), ("int", 3), ("str", "done"), ("Tensor[]", [_ONES, _ONES]))
    for index, (type, (returns, result)) in enumerate(product(WRITTEN, results)):
        value = [torch.zeros(2), torch.zeros(2)] if type.endswith("[]") else torch.zeros(2)
        yield Shape(f"write_p_{index}", f"({type} w, Tensor x) -> {returns}", (value, _ONES), {}, result, True)
        yield Shape(f"write_k_{index}", f"(Tensor x, *, {type} w) -> {returns}", (_ONES,), {"w": value}, result, True)


def shapes() -> tuple[Shape, ...]:
    """The whole corpus."""
    return (*echoes(), *pairs(), *writes())
