"""What holds of the backend of examples/backend; `test_backend` runs this in a process of its own.

A process has one device of its own kind, and torch asks that for much, whatever else it runs.
"""

from __future__ import annotations

import importlib.util
import os
import warnings

import pytest

from tests.extension.building import EXAMPLES

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module", autouse=True)
def backend() -> None:
    """torch knows the device by its name."""
    spec = importlib.util.spec_from_file_location("lab_device", EXAMPLES / "backend" / "lab_device.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.register(os.environ["OPGEN_TEST_LIBRARY"])


def has_kernel(operator: str, key: str) -> bool:
    """Whether a kernel was registered for the operator."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(operator, key))


def test_tensors_are_on_the_device_that_is_asked_for() -> None:
    x = torch.rand(3, 4)
    moved = x.to("lab:1")
    assert moved.device == torch.device("lab", 1)
    torch.testing.assert_close(moved.cpu(), x)
    torch.testing.assert_close(moved.t().view(-1, 1).cpu() if moved.t().is_contiguous() else moved.t().cpu(), x.t())


def test_views_share_memory() -> None:
    x = torch.zeros(2, 3, device="lab")
    x.view(6)[1:3].fill_(5)
    assert x.tolist() == [[0, 5, 5], [0, 0, 0]]


def test_listed_forms_have_kernels_and_so_have_those_made_of_them() -> None:
    for name in ("abs", "abs_", "abs.out", "topk", "topk.values", "_foreach_neg_", "rrelu_with_noise"):
        assert has_kernel(f"aten::{name}", "PrivateUse1"), name
    for name in ("linear", "linear.out", "silu", "silu_"):
        assert has_kernel(f"aten::{name}", "AutogradPrivateUse1"), name
    assert not has_kernel("aten::linear", "PrivateUse1")


def test_functional_kernels() -> None:
    x, y = torch.randn(3, 4), torch.randn(4)
    on_lab = x.to("lab"), y.to("lab")
    torch.testing.assert_close(on_lab[0].abs().cpu(), x.abs())
    torch.testing.assert_close(torch.add(*on_lab, alpha=3).cpu(), torch.add(x, y, alpha=3))


def test_in_place_forms_copy_what_the_kernel_returns() -> None:
    x = torch.randn(3, 4)
    moved = x.to("lab")
    address = moved.data_ptr()
    assert moved.abs_() is moved
    assert moved.data_ptr() == address
    torch.testing.assert_close(moved.cpu(), x.abs())


def test_out_forms_resize_and_copy() -> None:
    x = torch.randn(3, 4)
    out = torch.empty(0, device="lab")
    torch.abs(x.to("lab"), out=out)
    torch.testing.assert_close(out.cpu(), x.abs())
    values, indices = torch.empty(0, device="lab"), torch.empty(0, dtype=torch.long, device="lab")
    torch.topk(x.to("lab"), 2, out=(values, indices))
    torch.testing.assert_close((values.cpu(), indices.cpu()), tuple(torch.topk(x, 2)))


def test_lists_are_changed_in_place() -> None:
    tensors = [torch.randn(2), torch.randn(3)]
    moved = [tensor.to("lab") for tensor in tensors]
    torch._foreach_neg_(moved)
    torch.testing.assert_close([tensor.cpu() for tensor in moved], [-tensor for tensor in tensors])


def test_several_arguments_are_changed() -> None:
    arguments = torch.tensor([4.0]), torch.tensor([1], dtype=torch.int32), torch.tensor([0.0])
    moved = tuple(argument.to("lab") for argument in arguments)
    torch._amp_update_scale_(*moved, 2.0, 0.5, 2)
    torch._amp_update_scale_(*arguments, 2.0, 0.5, 2)
    torch.testing.assert_close(tuple(argument.cpu() for argument in moved), arguments)


def test_an_argument_is_changed_and_a_result_returned() -> None:
    x, noise = torch.randn(4).to("lab"), torch.zeros(4).to("lab")
    made = torch.ops.aten.rrelu_with_noise(x, noise, 0.25, 0.25, True)
    torch.testing.assert_close(made.cpu(), torch.where(x.cpu() <= 0, x.cpu() * 0.25, x.cpu()))
    assert noise.cpu().abs().sum() > 0


def test_what_has_no_kernel_runs_on_the_cpu() -> None:
    x = torch.randn(3, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.testing.assert_close(torch.cumsum(x.to("lab"), 1).cpu(), torch.cumsum(x, 1))
        assert torch.linalg.inv(torch.eye(2, device="lab")).device.type == "lab"


def test_kernels_for_autograd_say_how_gradients_go_back() -> None:
    x, weight, bias = torch.randn(2, 5, 4), torch.randn(3, 4), torch.randn(3)
    expected = [part.clone().requires_grad_() for part in (x, weight, bias)]
    actual = [part.to("lab").requires_grad_() for part in (x, weight, bias)]
    made = torch.nn.functional.silu(torch.nn.functional.linear(*actual))
    assert "Silu" in made.grad_fn.name()
    assert "Linear" in made.grad_fn.next_functions[0][0].name()
    made.sum().backward()
    torch.nn.functional.silu(torch.nn.functional.linear(*expected)).sum().backward()
    torch.testing.assert_close([part.grad.cpu() for part in actual], [part.grad for part in expected])


def test_gradients_go_through_kernels_of_both_kinds() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.SiLU(), torch.nn.Linear(3, 1))
    x = torch.randn(6, 4)
    expected = (model(x) * 2).abs().sum()
    expected.backward()
    gradients = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    (model.to("lab")(x.to("lab")) * 2).abs().sum().backward()
    torch.testing.assert_close([parameter.grad.cpu() for parameter in model.parameters()], gradients)
