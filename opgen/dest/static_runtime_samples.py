"""Sample arguments for the tests of the static runtime: an argument → a C++ expression.

A test runs an operator twice, the second time with larger inputs.  If the type of an argument doesn't determine
a legal value, the table has it: `N` is a size, which is larger in the second run.

    samples(mv(Tensor self, Tensor vec) -> Tensor, 0)   →   self: at::rand({6, 6}), vec: at::rand({6})
    samples(mv(Tensor self, Tensor vec) -> Tensor, 1)   →   self: at::rand({22, 22}), vec: at::rand({22})
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, FunctionSchema, OptionalType, Type

_Expression: TypeAlias = str | tuple[str, str]
"""One sample for both runs, or one for each."""
_SIZE: Final = re.compile(r"\bN\b")


@dataclass(frozen=True, slots=True)
class _Samples:
    """The arguments of a call of an operator."""

    arguments: Mapping[str, _Expression]
    """Expressions by argument name; other arguments get the sample of their type."""
    sizes: tuple[int, int]
    """The value of `N` in each call."""
    optional: tuple[str, ...] = ()
    """Arguments that only some overloads have; the others are always declared."""


_VALUES: Final[Mapping[BaseTy, str]] = MappingProxyType(
    {
        BaseTy.Scalar: "2",
        BaseTy.ScalarType: "at::ScalarType::Float",
        BaseTy.bool: "false",
        BaseTy.int: "1",
        BaseTy.str: '"floor"',
    }
)
"""Samples of arguments that are not tensors."""

_SIZES: Final = MappingProxyType({1: (16, 64), 2: (8, 32), 3: (6, 22)})
"""The sizes of a tensor in each run, by the number of its dimensions."""
_VECTORS: Final = frozenset(
    [
        "_convert_indices_from_coo_to_csr",
        "_convert_indices_from_csr_to_coo",
        "addmv",
        "dot",
        "ger",
        "index_add",
        "nll_loss_backward",
        "outer",
        "vdot",
    ]
)
"""Operators that take tensors of one dimension."""
_MATRICES: Final = frozenset(["_addmm_activation", "addmm", "diag", "matrix_H", "mm", "nuclear_norm", "t"])
_COMPLEX: Final = frozenset(["_conj", "imag", "view_as_real"])
_INTEGER: Final = frozenset(
    [
        "_convert_indices_from_coo_to_csr",
        "_convert_indices_from_csr_to_coo",
        "bitwise_and",
        "bitwise_left_shift",
        "bitwise_not",
        "bitwise_or",
        "bitwise_right_shift",
        "bitwise_xor",
        "gather",
        "gcd",
        "lcm",
        "scatter",
    ]
)


def _samples(sizes: tuple[int, int] = (6, 22), **arguments: _Expression) -> _Samples:
    return _Samples(MappingProxyType(arguments), sizes)


_CUBES_OF_INTEGERS: Final = _Samples(
    MappingProxyType(
        {
            "self": "at::randint(1, 100, {N,N,N}, torch::kInt64)",
            "index": "at::randint(0, 1, {N,N,N}, torch::kInt64)",
            "src": "at::randint(1, 100, {N,N,N}, torch::kInt64)",
            "reduce": '"add"',
        }
    ),
    sizes=(2, 5),
    optional=("reduce",),
)
_CLASSES: Final = _samples(self="at::rand({N, N})", target="at::randint(N, {N}, torch::kInt64)", weight="at::rand({N})")
_DIAGONAL: Final = _samples(offset="0", dim1="2", dim2="1")
_FOURIER: Final = _samples(norm='"forward"')
_QUANTILE: Final = _samples(q="at::rand({N})", interpolation='"linear"')

_NONE: Final = _samples()
_OF_OPERATORS: Final[Mapping[str, _Samples]] = MappingProxyType(
    {
        "_convert_indices_from_coo_to_csr": _samples(
            (2, 12), self="at::randint(0, 3, {N}, at::kInt)", size=("10", "24"), out_int32="false"
        ),
        "_convert_indices_from_csr_to_coo": _samples(
            crow_indices=("torch::tensor({1}, torch::kInt32)", "torch::tensor({0}, torch::kInt32)"),
            col_indices=(
                "torch::tensor({0, 1, 0}, torch::kInt32)",
                "torch::tensor({0, 1, 0, 2, 1, 2, 0, 1, 0, 2, 1, 2}, torch::kInt32)",
            ),
            out_int32="false",
        ),
        "acosh": _samples((2, 5), self="at::rand({N, N, N}) + at::ones({N, N, N})"),
        "adaptive_max_pool2d_backward": _samples(
            (2, 3),
            grad_output="at::rand({N, N, N}, at::kFloat)",
            self="at::rand({N, N, N}, at::kFloat)",
            indices="at::randint(0, 1, {N, N, N}, at::kLong)",
        ),
        "adaptive_max_pool3d_backward": _samples(
            (2, 3),
            grad_output="at::rand({N, N, N, N}, at::kFloat)",
            self="at::rand({N, N, N, N}, at::kFloat)",
            indices="at::randint(0, 1, {N, N, N, N}, at::kLong)",
        ),
        "addbmm": _samples(self="at::rand({N, N})"),
        "addmv": _samples((2, 35), self="at::rand({N})", mat="at::rand({N, N})", vec="at::rand({N})"),
        "addr": _samples(self="at::rand({N, N})", vec1="at::rand({N})", vec2="at::rand({N})"),
        "bitwise_left_shift": _samples(
            self="at::randint(1, 1 << 4, {N, N, N}, at::kInt)", other="at::randint(1, 26, {N, N, N}, at::kInt)"
        ),
        "bitwise_right_shift": _samples(
            self="at::randint(1 << 21, 1 << 30, {N, N, N}, at::kInt)", other="at::randint(1, 22, {N, N, N}, at::kInt)"
        ),
        "cross": _samples(
            self=("at::rand({3, 3, 3})", "at::rand({22, 3, 22})"),
            other=("at::rand({3, 3, 3})", "at::rand({22, 3, 22})"),
        ),
        "diagonal": _DIAGONAL,
        "fft_fft": _FOURIER,
        "fft_hfft": _FOURIER,
        "fft_ifft": _FOURIER,
        "fft_ihfft": _FOURIER,
        "fft_irfft": _FOURIER,
        "fft_rfft": _FOURIER,
        "gather": _samples(
            (2, 5),
            self="at::randint(1, 100, {N,N,N}, at::kInt)",
            dim="1",
            index=("at::randint(0, 1, {N,N,N}, torch::kInt64)", "at::randint(0, 4, {N,N,N}, torch::kInt64)"),
            sparse_grad="false",
        ),
        "gelu": _samples(self="at::rand({N, N, N})", approximate='"tanh"'),
        "gelu_backward": _samples(grad_output="at::rand({N, N, N})", self="at::rand({N, N, N})", approximate='"tanh"'),
        "index_add": _samples(
            (2, 16),
            self="at::rand({N})",
            dim="0",
            index=("at::randint(0, 1, {N}, at::kInt)", "at::randint(0, 10, {N}, at::kInt)"),
            source="at::rand({N})",
            alpha="2",
        ),
        "index_copy": _samples(
            (2, 32),
            self="at::rand({N})",
            dim="0",
            index=("at::randint(0, 1, {N}, at::kLong)", "at::randint(0, 10, {N}, at::kLong)"),
            source="at::rand({N})",
        ),
        "linalg_cross": _samples(self="at::rand({N, 3, N})", other="at::rand({N, 3, N})", dim="1"),
        "linalg_diagonal": _DIAGONAL,
        "linalg_tensorinv": _samples(self="at::rand({N, N, N, N})", ind="2"),
        "masked_select": _samples(mask=("at::randn({N, N, N}) > 0.5", "at::rand({N, N, N}) > 0.5")),
        "multi_margin_loss": _CLASSES,
        "multilabel_margin_loss": _samples(self="at::rand({N, N})", target="at::randint(N, {N, N}, torch::kInt64)"),
        "mv": _samples(self="at::rand({N, N})", vec="at::rand({N})"),
        "nanquantile": _QUANTILE,
        "nll_loss": _CLASSES,
        "nll_loss2d": _samples(
            self="at::rand({N, N, N, N})", target="at::randint(N, {N, N, N}, torch::kInt64)", weight="at::rand({N})"
        ),
        "nll_loss_backward": _samples(
            (6, 36),
            grad_output="at::rand({})",
            self="at::rand({N})",
            target=("at::randint(0, 5, {N}, torch::kInt64)", "at::randint(0, 11, {N}, torch::kInt64)"),
            weight="at::rand({N})",
            reduction="1",
            ignore_index="1",
            total_weight="at::rand({})",
        ),
        "orgqr": _samples(input2="at::rand({N, N})"),
        "ormqr": _samples(input2="at::rand({N, N})"),
        "quantile": _QUANTILE,
        "scatter": _CUBES_OF_INTEGERS,
        "scatter_add": _CUBES_OF_INTEGERS,
        "scatter_reduce": _samples(reduce='"mean"', index="at::randint(N, {N, N, N}, torch::kInt64)"),
        "special_zeta": _samples(
            (2, 5),
            self="at::rand({N,N,N}, at::kDouble) + at::ones({N,N,N})",
            other="at::rand({N,N,N}, at::kDouble) + at::ones({N,N,N})",
        ),
        "take": _samples(
            index=("at::randint(0, 216, {20}, torch::kInt64)", "at::randint(0, 1000, {100}, torch::kInt64)")
        ),
        "take_along_dim": _samples(indices=("at::argsort(self0, 1, true)", "at::argsort(self1, 1, true)")),
    }
)
"""By the operator's name without its overload."""


def samples(schema: FunctionSchema, time: int) -> Iterator[tuple[str, str]]:
    """Yield the arguments with their values in the first (0) or second (1) run, then other entries of the table."""
    operator = str(schema.name.name)
    table = _OF_OPERATORS.get(operator, _NONE)
    size = str(table.sizes[time])
    arguments = {argument.name: argument for argument in schema.schema_order_arguments()}
    others = [name for name in table.arguments if name not in arguments and name not in table.optional]
    for name in (*arguments, *others):
        sample = table.arguments.get(name)
        if sample is None:
            yield name, _of_type(operator, arguments[name].type, time)
        else:
            yield name, _SIZE.sub(size, sample if isinstance(sample, str) else sample[time])


def _of_type(operator: str, type: Type, time: int) -> str:
    plain = type.elem if isinstance(type, OptionalType) else type
    assert isinstance(plain, BaseType), f"{operator} has no samples of {type}"
    return _tensor(operator, time) if plain.name is BaseTy.Tensor else _VALUES[plain.name]


def _tensor(operator: str, time: int) -> str:
    dimensions = 1 if operator in _VECTORS else 2 if operator in _MATRICES else 3
    shape = ",".join([str(_SIZES[dimensions][time])] * dimensions)
    if operator == "view_as_complex":
        shape = "2, 2"  # the last dimension holds real and imaginary parts
    if operator in _COMPLEX:
        return f"at::randn({{{shape}}}, at::kComplexFloat)"
    if operator in _INTEGER:
        return f"at::randint(1, 100, {{{shape}}}, at::kInt)"
    return f"at::rand({{{shape}}})"
