"""The operators of examples/rational, in all the ways in which torch calls operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.desk.test_explanations import agrees, cells_of

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("rational")

close = torch.testing.assert_close


def ops() -> Any:
    """The operators, once they are loaded."""
    return torch.ops.rational


def values(*sizes: int) -> Any:
    """Numbers between 1 and 2."""
    return torch.rand(*sizes) + 1


# ------------------------------------------------------------------------------------------ eager


def test_structured_forms() -> None:
    a, b = values(3, 4), values(4)
    close(ops().ratio(a, b), a / b)
    close(ops().ratio(a, b, eps=2), a / (b + 2))
    out = torch.empty(0)
    assert ops().ratio(a, b, out=out).data_ptr() == out.data_ptr()
    close(out, a / b)
    strided = torch.empty(4, 3).t()
    ops().ratio(a, b, out=strided)
    assert strided.stride() == (1, 3)
    close(strided, a / b)
    changed, version = a.clone(), 0
    ops().ratio_(changed, b)
    close(changed, a / b)
    assert changed._version == version + 1


def test_overload_for_numbers() -> None:
    a = values(3, 4)
    close(ops().ratio(a, 2.0), a / 2)
    close(ops().ratio_(a.clone(), 4), a / 4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_loop_body(dtype: str) -> None:
    a, b = values(37).to(getattr(torch, dtype)), values(37).to(getattr(torch, dtype))
    close(ops().blend(a, b, weight=0.25), a + 0.25 * (b - a))
    close(ops().blend_(a.clone(), b), a + 0.5 * (b - a))
    close(ops().blend(a[::2], b[::2]), a[::2] + 0.5 * (b[::2] - a[::2]))


@pytest.mark.parametrize(("dim", "keepdim"), [(0, False), (-1, True), (1, False)])
def test_reduction(dim: int, keepdim: bool) -> None:
    a = values(3, 4)
    close(ops().harmonic_mean(a, dim, keepdim), 1 / (1 / a).mean(dim, keepdim))
    out = torch.empty(0)
    ops().harmonic_mean(a, dim, keepdim, out=out)
    close(out, 1 / (1 / a).mean(dim, keepdim))


def test_several_results() -> None:
    a = values(3, 4) * 3
    whole, part = ops().split_fraction(a)
    close(whole, a.trunc())
    close(part, a.frac())
    outs = torch.empty(0), torch.empty(0)
    ops().split_fraction(a, whole=outs[0], part=outs[1])
    close(outs, (whole, part))


def test_view_and_its_copy() -> None:
    a = values(3, 4)
    view = ops().term(a, 1)
    assert view._is_view()
    assert view._base is a
    view.mul_(2)
    assert a._version == 1
    close(ops().term_copy(a, 1), a[:, 1])
    assert ops().term_copy(a, 1)._base is None


def test_forms_that_follow() -> None:
    a = values(3, 4)
    expected = a / (1 + a.abs() / 2)
    close(ops().saturate(a, 2.0), expected)
    close(ops().saturate(a, 2.0, out=torch.empty(0)), expected)
    close(ops().saturate_(a, 2.0), expected)
    total = torch.zeros(3, 4)
    assert ops().accumulate(a, total) == 12
    close(total, a)
    assert total._version == 1
    count, fresh = ops().accumulate_functional(a, total)
    assert count == 12
    close(fresh, 2 * a)
    close(total, a)
    ops().accumulate(a, total, out=torch.empty((), dtype=torch.long))
    close(total, 2 * a)


def test_lists_options_and_factories() -> None:
    a = values(3, 4)
    first, second = ops().reciprocals([a, torch.zeros(2)], 7.0)
    close(first, 1 / a)
    close(second, torch.full((2,), 7.0))
    plain = ops().evaluate(a)
    close(plain, a / (a + 1))
    full = ops().evaluate(
        a, a, 3, [1.0, 2.0], shift=1.0, absolute=True, mode="inverse", limit=30, powers=[2, 1], dtype=torch.float64
    )
    x = a.double()
    close(full, 1 / ((x + 1) ** 2 / (x + 1) + x**2 + 2 * x**3 + a).abs().clamp_max(30))
    close(ops().repeat_rows(a, [2]), a.expand(2, 3, 4))
    close(ops().unit_fractions(3), torch.tensor([1, 1 / 2, 1 / 3]))
    assert ops().unit_fractions(3, dtype=torch.float64, device="meta").device.type == "meta"
    close(ops().relative_error(a, 2 * a), torch.full_like(a, 0.5))


def test_random() -> None:
    a = torch.zeros(100)
    one, other = (ops().jitter(a, 2.0, generator=torch.Generator().manual_seed(0)) for _ in range(2))
    close(one, other)
    assert 1 < one.abs().max() <= 2


def test_wrong_arguments() -> None:
    a, b = values(3, 4), values(4)
    wrong: Sequence[tuple[Callable[[], object], str]] = [
        (lambda: ops().ratio(a, values(5)), "must match the size of tensor b"),
        (lambda: ops().ratio(a, b, out=torch.empty(3, 4, dtype=torch.long)), "can't be cast"),
        (lambda: ops().ratio_(b.clone(), a), "doesn't match the broadcast shape"),
        (lambda: ops().ratio(a), "missing value for argument 'other'"),
        (lambda: ops().harmonic_mean(a, 7), "Dimension out of range"),
        (lambda: ops().harmonic_mean(a.long(), 0), "expected floating point numbers"),
        (
            lambda: ops().harmonic_mean(a, 0, out=torch.empty(4, dtype=torch.float64)),
            "Expected out tensor to have dtype",
        ),
        (lambda: ops().saturate(a, out=torch.empty(0, dtype=torch.long)), "Expected out tensor to have dtype"),
        (lambda: ops().evaluate(a, mode="odd"), "unknown mode 'odd'"),
    ]
    for call, message in wrong:
        with pytest.raises((RuntimeError, IndexError), match=message):
            call()


# ------------------------------------------------------------------------- what torch makes of it

CALLS: dict[str, tuple[Callable[[], Sequence[Any]], dict[str, Any]]] = {
    "ratio.Tensor": (lambda: (values(3, 4), values(4)), {}),
    "ratio_.Tensor": (lambda: (values(3, 4), values(4)), {}),
    "ratio.out": (lambda: (values(3, 4), values(4)), {"out": torch.empty(3, 4)}),
    "ratio.Scalar": (lambda: (values(3, 4), 2.0), {}),
    "blend": (lambda: (values(4, 3).t(), values(4)), {"weight": 0.3}),
    "harmonic_mean": (lambda: (values(3, 4), 1), {}),
    "harmonic_mean.out": (lambda: (values(3, 4), 1), {"out": torch.empty(3)}),
    "split_fraction": (lambda: (values(3, 4),), {}),
    "term": (lambda: (values(3, 4), 1), {}),
    "term_copy": (lambda: (values(3, 4), 1), {}),
    "saturate_": (lambda: (values(3, 4),), {}),
    "saturate": (lambda: (values(3, 4),), {}),
    "saturate.out": (lambda: (values(3, 4),), {"out": torch.empty(3, 4)}),
    "accumulate": (lambda: (values(3, 4), torch.zeros(3, 4)), {}),
    "accumulate_functional": (lambda: (values(3, 4), torch.zeros(3, 4)), {}),
    "reciprocals": (lambda: ([values(3, 4), values(4)],), {}),
    "evaluate": (lambda: (values(3, 4),), {}),
    "repeat_rows": (lambda: (values(3, 4), [3]), {}),
    "relative_error": (lambda: (values(3, 4), values(4)), {}),
    "unit_fractions": (lambda: (3,), {}),
    "running_mean": (lambda: (values(3, 4),), {}),
}


@pytest.mark.parametrize("name", CALLS)
def test_opcheck(name: str) -> None:
    arguments, keywords = CALLS[name]
    base, _, overload = name.partition(".")
    torch.library.opcheck(getattr(getattr(ops(), base), overload or "default"), arguments(), keywords)


def program(x: Any, y: Any) -> tuple[Any, ...]:
    """A bit of everything."""
    z = (ops().ratio(x, y) + ops().blend(x, y, weight=0.3)).clone()
    ops().ratio_(z, y, eps=1)
    ops().saturate_(z)
    whole, part = ops().split_fraction(z * 7)
    ops().term(whole, 0).add_(1)
    total = torch.zeros_like(whole)
    count = ops().accumulate(part, total)
    rows = ops().repeat_rows(x, [x.shape[0]])
    lists = ops().reciprocals([x, y])
    return ops().harmonic_mean(whole + 5, 1), total, count, rows, ops().running_mean(x), *lists, whole


def test_compile_serves_all_sizes_at_once() -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(program, backend=counter, fullgraph=True, dynamic=True)
    for rows, columns in ((3, 4), (5, 6), (7, 9)):
        x, y = values(rows, columns), values(columns)
        close(compiled(x, y), program(x, y))
    assert counter.frame_count == 1


def test_compile_static() -> None:
    torch._dynamo.reset()
    x, y = values(3, 4), values(4)
    close(torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=False)(x, y), program(x, y))


def test_export() -> None:
    class Module(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any, y: Any) -> Any:
            return program(x, y)

    rows = torch.export.Dim("rows", min=2, max=100)
    exported = torch.export.export(Module(), (values(3, 4), values(4)), dynamic_shapes={"x": {0: rows}, "y": {}})
    x, y = values(9, 4), values(4)
    close(exported.module()(x, y), program(x, y))
    functional = exported.run_decompositions()
    close(functional.module()(x, y), program(x, y))
    called = {str(node.target) for node in functional.graph.nodes}
    assert "rational.saturate.default" in called
    assert not {"rational.saturate_.default", "rational.ratio_.Tensor", "rational.accumulate.default"} & called


def test_functionalize() -> None:
    from torch.fx.experimental.proxy_tensor import make_fx

    def change(x: Any, y: Any) -> Any:
        z = x.clone()
        ops().ratio_(z, y)
        out = torch.empty(0)
        ops().blend(z, y, out=out)
        view = ops().term(out, 1)
        view.mul_(2)
        ops().saturate_(view)
        return out

    x, y = values(3, 4), values(4)
    expected = change(x, y)
    close(torch.func.functionalize(change)(x, y), expected)
    without_views = torch.func.functionalize(change, remove="mutations_and_views")
    close(without_views(x, y), expected)
    called = {str(node.target) for node in make_fx(without_views)(x, y).graph.nodes}
    assert {"rational.ratio.Tensor", "rational.blend.default", "rational.saturate.default"} <= called
    assert not any(name.startswith(("rational.ratio_", "rational.blend.out", "rational.saturate_")) for name in called)


def test_fake_tensors() -> None:
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode() as mode:
        x, y = mode.from_tensor(values(3, 4)), mode.from_tensor(values(4))
        assert ops().ratio(x, y).shape == (3, 4)
        assert ops().ratio_(x, y) is x
        assert ops().harmonic_mean(x, 0, True).shape == (1, 4)
        assert ops().jitter(x).shape == (3, 4)
        assert ops().repeat_rows(x, [2]).shape == (2, 3, 4)
        assert ops().term(x, 1).shape == (3,)


# ------------------------------------------------------------------------------------------- vmap


def test_vmap_of_elementwise_operators() -> None:
    from torch.func import vmap

    batch, y = values(5, 3, 4), values(4)
    close(vmap(ops().ratio, in_dims=(0, None))(batch, y), batch / y)
    close(vmap(ops().ratio, in_dims=(1, None), out_dims=1)(batch, y), batch / y)
    close(vmap(vmap(ops().blend))(batch, 2 * batch), ops().blend(batch, 2 * batch))
    x = values(3, 4)
    nested = vmap(vmap(ops().ratio, in_dims=(0, None)), in_dims=(None, 0))(x, batch)
    close(nested, x[None, :, None, :] / batch[:, None])
    close(vmap(ops().split_fraction)(3 * batch)[0], (3 * batch).trunc())
    numbers = values(5).double()
    mixed = vmap(ops().ratio)(batch, numbers)
    assert mixed.dtype == torch.float32
    close(mixed, batch / numbers.float()[:, None, None])


def test_vmap_in_place() -> None:
    from torch.func import vmap

    batch, y = values(5, 3, 4), values(4)
    close(vmap(lambda x: ops().ratio_(x.clone(), y))(batch), batch / y)
    with pytest.raises(RuntimeError, match=r"rational::ratio_\.Tensor: vmap can't change a tensor in place"):
        vmap(lambda x: ops().ratio_(torch.ones(3, 4), x))(batch)


def test_vmap_with_a_rule_and_without(capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder) -> None:
    from torch.func import vmap

    batch = values(5, 3, 4)
    close(vmap(ops().running_mean, in_dims=2)(batch), torch.stack([ops().running_mean(x) for x in batch.unbind(2)]))
    assert "performance drop" not in capfd.readouterr().err
    assert not recwarn
    torch.set_warn_always(True)
    try:
        means = vmap(lambda x: ops().harmonic_mean(x, 1))(batch)
    finally:
        torch.set_warn_always(False)
    close(means, torch.stack([ops().harmonic_mean(x, 1) for x in batch]))
    # The warning comes by way of Python since torch 2.15.
    said = capfd.readouterr().err + "".join(str(each.message) for each in recwarn)
    assert "the batching rule for rational::harmonic_mean" in said


def test_vmap_of_composites_and_views(capfd: pytest.CaptureFixture[str]) -> None:
    from torch.func import vmap

    batch, y = values(5, 3, 4), values(4)
    close(vmap(ops().relative_error, in_dims=(0, None))(batch, y), ops().relative_error(batch, y))
    close(vmap(lambda x: ops().ratio(x, 2.0))(batch), batch / 2)
    close(vmap(lambda x: ops().term(x, 1))(batch), batch[:, :, 1])
    close(vmap(lambda x: ops().term_copy(x, 1))(batch), batch[:, :, 1])
    close(vmap(lambda x: ops().reciprocals([x])[0])(batch), 1 / batch)
    close(vmap(ops().saturate)(batch), ops().saturate(batch))
    assert "performance drop" not in capfd.readouterr().err


# --------------------------------------------------------------------------------------- autograd


def test_no_derivative_is_no_silent_zero() -> None:
    x = values(3, 4).requires_grad_()
    with pytest.raises(RuntimeError, match="derivative for rational::jitter is not implemented"):
        ops().jitter(x).sum().backward()


def test_tensor_kept_for_a_gradient_must_not_be_written_to() -> None:
    x = values(3, 4).requires_grad_()
    y = x.exp()
    ops().accumulate(torch.ones(3, 4), y.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_explanations_say_what_the_dispatcher_does(repository: Path) -> None:
    cells = cells_of("--source-path", str(repository / "examples" / "rational" / "ops"))
    assert len(cells) > 50
    assert [(cell.form, cell.key, cell.reason) for cell in cells if not agrees(cell, "rational")] == []
