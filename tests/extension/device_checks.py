"""What holds of the device of examples/device; `test_device` runs this in a process of its own.

A process has one device of its own kind, and torch asks that for much, whatever else it runs.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest

from tests.extension.building import EXAMPLES, Built

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module", autouse=True)
def device(toy: Built) -> None:
    """torch knows the device by its name."""
    spec = importlib.util.spec_from_file_location("toy_device", EXAMPLES / "device" / "toy_device.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register(toy.library("toy"))


def ops() -> Any:
    """The operators, once they are loaded."""
    return torch.ops.toy


def test_tensors_are_created_on_the_device() -> None:
    made = ops().filled([2, 3], 1.5, device="toy")
    assert made.device == torch.device("toy", 0)
    assert made.cpu().tolist() == [[1.5] * 3] * 2
    assert ops().filled([2], 1, dtype=torch.long).tolist() == [1, 1]


def test_tensors_are_copied() -> None:
    x = torch.rand(3, 4)
    moved = x.to("toy:1")
    assert moved.device == torch.device("toy", 1)
    torch.testing.assert_close(moved.cpu(), x)
    torch.testing.assert_close(moved.t().cpu(), x.t())


def test_forms_of_a_structured_operator() -> None:
    x, y = torch.rand(3, 4), torch.rand(4)
    expected = x + 2 * y
    on_toy = x.to("toy"), y.to("toy")
    torch.testing.assert_close(ops().scaled_add(*on_toy, scale=2).cpu(), expected)
    out = torch.empty(0, device="toy")
    ops().scaled_add(*on_toy, scale=2, out=out)
    torch.testing.assert_close(out.cpu(), expected)
    ops().scaled_add_(*on_toy, scale=2)
    torch.testing.assert_close(on_toy[0].cpu(), expected)
    torch.testing.assert_close(ops().scaled_add(x, y, scale=2), expected)


def test_forms_that_follow() -> None:
    x = torch.rand(3).to("toy")
    torch.testing.assert_close(ops().negate(x).cpu(), -x.cpu())
    torch.testing.assert_close(ops().negate(x, out=torch.empty(3, device="toy")).cpu(), -x.cpu())


def test_kernels_run_with_the_tensors_device_as_the_current_one() -> None:
    assert ops().device_index(torch.empty(1, device="toy:1")) == 1
    assert ops().device_index(torch.empty(1, device="toy:0")) == 0


def test_tensors_of_one_operator_are_on_one_device() -> None:
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        ops().scaled_add(torch.ones(2, device="toy:0"), torch.ones(2, device="toy:1"))
