"""Runs the operators of the example: values, gradients, vmap, compilation, dtypes, streams."""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Sequence

import lab_ops
import mlx.core as mx
import numpy as np
import pytest

Arrays = tuple[mx.array, ...]


def _rand(*shape: int, seed: int = 0, low: float = -1.0) -> mx.array:
    generator = np.random.default_rng([seed, *shape])
    return mx.array(generator.uniform(low, 1.0, shape).astype(np.float32))


def _weighted_sum(x: mx.array, y: mx.array, weights: mx.array) -> mx.array:
    return lab_ops.weighted_sum([x, y], weights)


INDEX = mx.array([2, 0])

# name, function of arrays, its inputs, what it is in MLX's own operators
CASES: dict[str, tuple[Callable[..., mx.array], Arrays, Callable[..., mx.array]]] = {
    "unary": (lambda x: lab_ops.softcap(x, cap=2.0), (_rand(2, 3),), lambda x: 2 * mx.tanh(x / 2)),
    "binary": (
        lambda a, b: lab_ops.scaled_add(a, b, scale=3.0),
        (_rand(2, 3), _rand(3, seed=1)),
        lambda a, b: a + 3 * b,
    ),
    "optional": (lab_ops.fma, (_rand(2, 3), _rand(2, 1, seed=1), _rand(3, seed=2)), lambda x, y, z: x * y + z),
    "optional left out": (lab_ops.fma, (_rand(2, 3), _rand(3, seed=1)), lambda x, y: x * y),
    "first of two results": (lambda x: lab_ops.sincos(x)[0], (_rand(2, 3),), mx.sin),
    "second of two results": (lambda x: lab_ops.sincos(x)[1], (_rand(2, 3),), mx.cos),
    "both results": (
        lambda x: lab_ops.sincos(x)[0] * lab_ops.sincos(x)[1],
        (_rand(2, 3),),
        lambda x: mx.sin(x) * mx.cos(x),
    ),
    "reduction": (lab_ops.norm, (_rand(2, 3),), lambda x: mx.sqrt(mx.sum(x * x, axis=-1))),
    "reduction of the first axis": (
        lambda x: lab_ops.norm(x, axis=0, keepdims=True),
        (_rand(2, 3),),
        lambda x: mx.sqrt(mx.sum(x * x, axis=0, keepdims=True)),
    ),
    "list": (
        _weighted_sum,
        (_rand(2, 3), _rand(2, 3, seed=1), _rand(2, seed=2)),
        lambda x, y, weights: x * weights[0] + y * weights[1],
    ),
    "own dtype": (
        lambda x: lab_ops.pick(x, INDEX),
        (_rand(2, 3),),
        lambda x: mx.take_along_axis(x, INDEX[:, None], axis=-1)[:, 0],
    ),
    "composite": (lambda x: lab_ops.swish(x, 2.0), (_rand(2, 3),), lambda x: x * mx.sigmoid(2 * x)),
    "composite by a function": (
        lambda x: lab_ops.activate(x, "softcap", 2.0),
        (_rand(2, 3),),
        lambda x: 2 * mx.tanh(x / 2),
    ),
}
EACH = pytest.mark.parametrize("case", CASES)


def _agree(found: mx.array, expected: mx.array, tolerance: float = 1e-5) -> None:
    assert found.shape == expected.shape
    np.testing.assert_allclose(
        np.array(found.astype(mx.float32)), np.array(expected.astype(mx.float32)), rtol=tolerance, atol=tolerance
    )


def _differences(function: Callable[..., mx.array], inputs: Arrays, argnum: int, step: float = 1e-2) -> mx.array:
    """The gradient of the sum of a function's results, weighted, by finite differences."""
    base = np.array(inputs[argnum])
    gradient = np.zeros_like(base)
    for place in np.ndindex(*base.shape):
        values = []
        for sign in (1, -1):
            moved = base.copy()
            moved[place] += sign * step
            values.append(function(*inputs[:argnum], mx.array(moved), *inputs[argnum + 1 :]).item())
        gradient[place] = (values[0] - values[1]) / (2 * step)
    return mx.array(gradient)


def _weighted(function: Callable[..., mx.array]) -> Callable[..., mx.array]:
    """One number of what a function returns, to which each element adds its own share."""

    def call(*inputs: mx.array) -> mx.array:
        result = function(*inputs)
        return mx.sum(result * mx.reshape(mx.arange(1, result.size + 1), result.shape))

    return call


@EACH
def test_values(case: str) -> None:
    function, inputs, expected = CASES[case]
    _agree(function(*inputs), expected(*inputs))


@EACH
def test_gradients_are_finite_differences(case: str) -> None:
    function, inputs, expected = CASES[case]
    for argnum in range(len(inputs)):
        gradient = mx.grad(_weighted(function), argnums=argnum)(*inputs)
        _agree(gradient, _differences(_weighted(function), inputs, argnum), 2e-2)
        _agree(gradient, mx.grad(_weighted(expected), argnums=argnum)(*inputs))


@EACH
def test_second_order(case: str) -> None:
    function, inputs, expected = CASES[case]

    def second(of: Callable[..., mx.array], argnum: int) -> mx.array:
        first = mx.grad(_weighted(of), argnums=argnum)
        return mx.grad(lambda *each: mx.sum(mx.square(first(*each))), argnums=argnum)(*inputs)

    for argnum in range(len(inputs)):
        _agree(second(function, argnum), second(expected, argnum), 1e-4)


@EACH
def test_forward_derivatives(case: str) -> None:
    function, inputs, expected = CASES[case]
    tangents = [_rand(*each.shape, seed=7) for each in inputs]
    found = mx.jvp(lambda *each: [function(*each)], list(inputs), tangents)
    wanted = mx.jvp(lambda *each: [expected(*each)], list(inputs), tangents)
    _agree(found[1][0], wanted[1][0])


@EACH
def test_vmap_over_every_combination(case: str) -> None:
    function, inputs, expected = CASES[case]
    for axes in itertools.product((None, 0, -1), repeat=len(inputs)):
        if all(axis is None for axis in axes):
            continue
        batched = []
        for number, (axis, each) in enumerate(zip(axes, inputs, strict=True)):
            parts = [each * (1 + 0.1 * number + 0.2 * element) for element in range(4)]
            batched.append(each if axis is None else mx.stack(parts, axis=axis if axis == 0 else each.ndim))
        found = mx.vmap(function, in_axes=axes)(*batched)
        elements = []
        for element in range(4):
            slices = [
                each if axis is None else mx.take(each, element, axis=axis)
                for axis, each in zip(axes, batched, strict=True)
            ]
            elements.append(expected(*slices))
        _agree(found, mx.stack(elements))


@EACH
def test_gradients_under_vmap(case: str) -> None:
    function, inputs, expected = CASES[case]
    batched = [mx.stack([each, 0.5 * each, 2 * each]) for each in inputs]
    numbers = tuple(range(len(inputs)))
    found = mx.vmap(mx.grad(_weighted(function), argnums=numbers))(*batched)
    wanted = mx.vmap(mx.grad(_weighted(expected), argnums=numbers))(*batched)
    for one, other in zip(found, wanted, strict=True):
        _agree(one, other)


@EACH
@pytest.mark.parametrize("shapeless", [False, True])
def test_compiles(case: str, shapeless: bool) -> None:
    function, inputs, expected = CASES[case]
    compiled = mx.compile(function, shapeless=shapeless)
    _agree(compiled(*inputs), expected(*inputs))
    # The same graph for other numbers; for other shapes too, where the first axis is free.
    _agree(compiled(*(2 * each for each in inputs)), expected(*(2 * each for each in inputs)))


@pytest.mark.parametrize("case", ["unary", "binary", "optional left out", "both results", "reduction", "composite"])
def test_shapeless_graphs_take_other_shapes(case: str) -> None:
    function, _, expected = CASES[case]
    count = len(CASES[case][1])
    traces = 0

    def counted(*inputs: mx.array) -> mx.array:
        nonlocal traces
        traces += 1
        return function(*inputs)

    compiled = mx.compile(counted, shapeless=True)
    for shape in ((2, 3), (5, 3), (5, 4)):
        inputs = [_rand(*shape, seed=number) for number in range(count)]
        _agree(compiled(*inputs), expected(*inputs))
    assert traces == 1


def test_compiled_graphs_merge_equal_calls_only() -> None:
    def function(x: mx.array) -> mx.array:
        return lab_ops.softcap(x, cap=1.0) + lab_ops.softcap(x, cap=1.0) + lab_ops.softcap(x, cap=5.0)

    x = _rand(4)
    _agree(mx.compile(function)(x), 2 * mx.tanh(x) + 5 * mx.tanh(x / 5))


@EACH
@pytest.mark.parametrize("dtype", [mx.bfloat16, mx.float16])
def test_half_precision(case: str, dtype: mx.Dtype) -> None:
    function, inputs, expected = CASES[case]
    halves = [each.astype(dtype) for each in inputs]
    found = function(*halves)
    assert found.dtype == dtype
    _agree(found, expected(*(each.astype(mx.float32) for each in halves)), 2e-2)
    gradient = mx.grad(_weighted(function))(*halves)
    assert gradient.dtype == dtype


def test_complex_numbers() -> None:
    x, y, z = mx.array([1 + 2j, 3 - 1j]), mx.array([0.5 - 1j, 2 + 1j]), mx.array([1j, 2])
    assert mx.allclose(lab_ops.fma(x, y, z), x * y + z)

    def expected(x: mx.array, y: mx.array, z: mx.array) -> mx.array:
        return x * y + z

    for argnum in range(3):
        found, wanted = (
            mx.grad(lambda *each, of=of: mx.sum(mx.abs(of(*each))), argnums=argnum)(x, y, z)
            for of in (lab_ops.fma, expected)
        )
        assert mx.allclose(found, wanted)
    tangents = [mx.array([1 + 1j, 1j]), mx.array([2 - 1j, 1]), mx.array([1j, -1j])]
    found, wanted = (
        mx.jvp(lambda *each, of=of: [of(*each)], [x, y, z], tangents)[1][0] for of in (lab_ops.fma, expected)
    )
    assert mx.allclose(found, wanted)


def test_promotion() -> None:
    x = mx.array([1, 2, 3])
    assert lab_ops.softcap(x).dtype == mx.float32
    assert lab_ops.scaled_add(x, x).dtype == mx.int32
    assert lab_ops.scaled_add(x, x.astype(mx.int8)).dtype == mx.int32
    assert lab_ops.scaled_add(x, mx.array([0.5])).dtype == mx.float32
    assert lab_ops.scaled_add(mx.array([True]), mx.array([True])).tolist() == [2]
    assert lab_ops.exceeds(x, 1.5).tolist() == [False, True, True]
    assert lab_ops.exceeds(x, 1.5).dtype == mx.bool_
    with mx.stream(mx.cpu):
        assert lab_ops.softcap(x.astype(mx.float64)).dtype == mx.float64


def test_strides() -> None:
    x, y = _rand(3, 4, 5), _rand(5, 4, 3, seed=1)
    _agree(lab_ops.scaled_add(x, mx.transpose(y)), x + mx.transpose(y))
    _agree(lab_ops.scaled_add(x[::2, 1:, ::-1], y[0, :1, 0]), x[::2, 1:, ::-1] + y[0, :1, 0])
    _agree(lab_ops.norm(mx.transpose(x), axis=1), mx.sqrt(mx.sum(mx.square(x), axis=1)).T)
    assert lab_ops.softcap(mx.zeros((0, 3))).shape == (0, 3)
    assert lab_ops.scaled_add(mx.array(1.0), mx.array(2.0)).item() == 3.0


def test_gradients_of_broadcast_inputs() -> None:
    a, b = _rand(2, 3), _rand(3, seed=1)
    assert mx.grad(lambda a, b: mx.sum(lab_ops.scaled_add(a, b)), argnums=1)(a, b).tolist() == [2.0, 2.0, 2.0]


def test_no_gradient_flows_to_an_index() -> None:
    x = _rand(2, 3)
    gradient = mx.grad(lambda x: mx.sum(lab_ops.pick(x, INDEX)))(x)
    assert gradient.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_a_composite_operator_with_a_gradient_of_its_own() -> None:
    x = mx.array([0.2, 1.7])
    assert lab_ops.straight_round(x).tolist() == [0.0, 2.0]
    assert mx.grad(lambda x: mx.sum(3 * lab_ops.straight_round(x)))(x).tolist() == [3.0, 3.0]


def test_operators_without_arrays() -> None:
    assert lab_ops.ramp([2, 3], step=0.5).tolist() == [[0.0, 0.5, 1.0], [1.5, 2.0, 2.5]]
    assert lab_ops.ramp((3,), mx.int16).dtype == mx.int16
    with pytest.raises(ValueError, match="no kernel for"):
        lab_ops.ramp([2], mx.complex64)


def test_lists_of_results() -> None:
    halves = lab_ops.halves(mx.arange(6))
    assert [each.tolist() for each in halves] == [[0, 1, 2], [3, 4, 5]]


def test_streams() -> None:
    stream = mx.new_stream(mx.cpu)
    x = _rand(2, 3)
    for chosen in (stream, mx.cpu, None):
        _agree(lab_ops.softcap(x, cap=2.0, stream=chosen), 2 * mx.tanh(x / 2))
        _agree(lab_ops.swish(x, stream=chosen), x * mx.sigmoid(x))
        gradient = mx.grad(lambda x, chosen=chosen: mx.sum(lab_ops.softcap(x, cap=2.0, stream=chosen)))(x)
        _agree(gradient, 1 - mx.square(mx.tanh(x / 2)))


@pytest.mark.parametrize(
    ("call", "error", "said"),
    [
        (lambda: lab_ops.softcap([1.0]), TypeError, "incompatible function arguments"),
        (lambda: lab_ops.softcap(_rand(2), 2.0), TypeError, "incompatible function arguments"),
        (lambda: lab_ops.softcap(_rand(2), None, mx.cpu), TypeError, "incompatible function arguments"),
        (lambda: lab_ops.softcap(_rand(2).astype(mx.complex64)), ValueError, "no kernel for complex64"),
        (lambda: lab_ops.scaled_add(_rand(2), _rand(3)), ValueError, "broadcast"),
        (lambda: lab_ops.norm(_rand(2), axis=3), ValueError, "no axis 3"),
        (lambda: lab_ops.activate(_rand(2), "none"), ValueError, "no activation 'none'"),
    ],
)
def test_mistakes(call: Callable[[], object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        call()


def test_documentation() -> None:
    assert "Squeezes `x` smoothly into the range from `-cap` to `cap`." in (lab_ops.softcap.__doc__ or "")
    assert "With `keepdims`, the axis stays" in (lab_ops.norm.__doc__ or "")
    assert set(lab_ops.__all__) == {
        *("softcap", "scaled_add", "fma", "sincos", "norm", "weighted_sum", "pick", "exceeds", "ramp"),
        *("swish", "activate", "straight_round", "halves"),
    }


def test_torch_is_not_needed() -> None:
    assert "torch" not in sys.modules
    with pytest.raises(ImportError):
        __import__("torch")


def test_large_arrays() -> None:
    x = mx.arange(100_000, dtype=mx.float32) / 1000
    found: Sequence[float] = lab_ops.softcap(x, cap=10.0)[::20_000].tolist()
    assert found == pytest.approx([10 * math.tanh(value / 10) for value in range(0, 100, 20)], rel=1e-5)
