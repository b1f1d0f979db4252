"""The operators of examples/rational on a GPU: the same results as on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU, and a torch that has CUDA")

CALLS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "ratio": lambda ops, a, b: ops.ratio(a, b, eps=1),
    "ratio by a number": lambda ops, a, b: ops.ratio(a, 2.0),
    "ratio by a CPU scalar": lambda ops, a, b: ops.ratio(a, torch.tensor(2.0)),
    "ratio in place": lambda ops, a, b: ops.ratio_(a.clone(), b),
    "ratio, out": lambda ops, a, b: ops.ratio(a, b, out=torch.empty(0, device=a.device)),
    "blend": lambda ops, a, b: ops.blend(a, b, weight=0.3),
    "harmonic_mean": lambda ops, a, b: ops.harmonic_mean(a, 0),
    "split_fraction": lambda ops, a, b: ops.split_fraction(a * 3),
    "saturate": lambda ops, a, b: ops.saturate(a, 2.0),
    "accumulate": lambda ops, a, b: ops.accumulate_functional(a, a),
    "running_mean": lambda ops, a, b: ops.running_mean(a),
    "repeat_rows": lambda ops, a, b: ops.repeat_rows(a, [2]),
}


@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_the_cpu(name: str, rational: object) -> None:
    a, b = torch.rand(33, 65) + 1, torch.rand(65) + 1
    expected = CALLS[name](torch.ops.rational, a, b)
    found = CALLS[name](torch.ops.rational, a.cuda(), b.cuda())
    torch.testing.assert_close(found, expected, check_device=False)


def test_tensors_of_one_operator_are_on_one_device(rational: object) -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ops.rational.accumulate(torch.ones(2, device="cuda"), torch.ones(2))
