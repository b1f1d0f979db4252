"""The values that emitters see: `Library`, its `Operator`s and their `Argument`s.

    - name: scale
      signature: "array scale(const array& x, float factor = 2.0)"
      dispatch: {cpu: scale_cpu}
      pointwise: true

becomes an `Operator` with the arguments `x` and `factor`, one result and the kernel `scale_cpu`.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Final

from opgen.diagnostics import Span
from opgen.frozen_dataclass import dataclass
from opgen.mlx.types import Type


@dataclass(frozen=True, slots=True)
class Default:
    """The default value of an argument."""

    cpp: str
    """The C++ expression."""
    binding: str
    """The value in the nanobind binding."""


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of an operator, except the stream."""

    name: str
    type: Type
    default: Default | None
    keyword_only: bool
    """Whether it is keyword-only in Python."""
    span: Span
    """Its location."""


RESERVED_NAMESPACES: Final = frozenset({"mlx", "mx", "nanobind", "nb", "std"})
"""Names that are reserved by generated code, so libraries can't have them."""


class Results(Enum):
    """What an operator returns."""

    ARRAY = "array"
    PAIR = "pair"
    TUPLE = "tuple"
    LIST = "vector"
    """A list of arrays, whose length depends on the call."""


class Batching(Enum):
    """How `vmap` runs an operator."""

    POINTWISE = "pointwise"
    """Batch axes first; others broadcast."""
    LEADING = "leading"
    """Batch axes first in every input: the kernel takes leading axes."""
    LOOP = "loop"
    """One call for each batch element."""
    NONE = "none"
    """Not supported."""


@dataclass(frozen=True, slots=True)
class Gradient:
    """The gradient with respect to one array argument."""

    argument: str
    formula: str | None
    """A C++ expression; None if it has no gradient."""


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator."""

    name: str
    """Its name in C++."""
    python_name: str
    arguments: tuple[Argument, ...]
    results: Results
    result_count: int
    """The number of arrays that it returns; 0 if that depends on the call."""
    cpu: str | None
    """The CPU kernel, a function template."""
    metal: str | None
    """The function that the Metal kernel runs for each thread."""
    composite: str | None
    """The C++ expression that it computes; None if it has kernels or is computed by a function."""
    pointwise: bool
    shapes: tuple[str, ...]
    """The C++ expression of each result's shape; empty for pointwise and composite operators."""
    dtypes: tuple[str, ...]
    """The dtypes that its kernels support."""
    result_dtypes: tuple[str | None, ...]
    """For each result: a dtype, the name of an argument, or None for the dtype of the inputs."""
    input_dtypes: tuple[tuple[str, str], ...]
    """Arrays that are converted to separate dtypes."""
    gradients: tuple[Gradient, ...]
    batching: Batching
    batched_arguments: tuple[tuple[str, str], ...]
    """The C++ expressions that arguments become when a batch axis comes first."""
    doc: str
    span: Span
    """Its location."""

    @property
    def has_kernel(self) -> bool:
        """Whether it is a primitive, rather than composed of other operators."""
        return self.cpu is not None or self.metal is not None

    @property
    def arrays(self) -> tuple[Argument, ...]:
        """The arguments that are arrays, optional arrays and lists of them."""
        return tuple(argument for argument in self.arguments if argument.type.is_array)

    @property
    def parameters(self) -> tuple[Argument, ...]:
        """The other arguments."""
        return tuple(argument for argument in self.arguments if not argument.type.is_array)

    @property
    def promoted(self) -> tuple[Argument, ...]:
        """The arrays that are converted to one dtype."""
        own = {name for name, _ in self.input_dtypes}
        return tuple(argument for argument in self.arrays if argument.name not in own)

    @property
    def has_lists(self) -> bool:
        """Whether an argument is a list of arrays."""
        return any(argument.type.is_list for argument in self.arrays)


@dataclass(frozen=True, slots=True)
class Library:
    """The operators of one Python package."""

    name: str
    """The namespace in C++, and the package in Python."""
    operators: tuple[Operator, ...]

    def with_kernels(self) -> Iterator[Operator]:
        """Yield the operators that are primitives."""
        return (operator for operator in self.operators if operator.has_kernel)
