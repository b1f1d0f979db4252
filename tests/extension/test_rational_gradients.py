"""The derivatives of examples/rational, in all the ways in which torch asks for gradients."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("rational")

close = torch.testing.assert_close


def ops() -> Any:
    """The operators, once they are loaded."""
    return torch.ops.rational


def values(*sizes: int, **options: Any) -> Any:
    """Numbers between 1 and 2, exact enough for differences of them."""
    return (torch.rand(*sizes, dtype=torch.double, **options) + 1).requires_grad_()


@dataclass(frozen=True)
class Case:
    """A differentiable call."""

    call: Callable[..., Any]
    inputs: Callable[[], tuple[Any, ...]]
    forward: bool = True
    """Whether there are formulas for tangents."""


def _pair() -> tuple[Any, ...]:
    return values(2, 3), values(3)


def _one() -> tuple[Any, ...]:
    return (values(2, 3),)


def _fractions() -> tuple[Any, ...]:
    return ((values(2, 3) * 0.3).detach().requires_grad_(),)


def _complex() -> tuple[Any, ...]:
    return (torch.rand(2, 3, dtype=torch.cdouble, requires_grad=True),)


CASES: dict[str, Case] = {
    "ratio": Case(lambda x, y: ops().ratio(x, y, eps=0.5), _pair),
    "ratio_": Case(lambda x, y: ops().ratio_(x.clone(), y), _pair),
    "ratio.Scalar": Case(lambda x: ops().ratio(x, 2.0, eps=1), _one),
    "blend": Case(lambda x, y: ops().blend(x, y, weight=0.3), _pair),
    "blend_": Case(lambda x, y: ops().blend_(x.clone(), y), _pair),
    "harmonic_mean": Case(lambda x: ops().harmonic_mean(x, 1), _one),
    "harmonic_mean, kept": Case(lambda x: ops().harmonic_mean(x, 0, True), _one),
    "split_fraction": Case(lambda x: ops().split_fraction(x)[1], _fractions),
    "term": Case(lambda x: ops().term(x, 1), _one),
    "term, complex": Case(lambda x: ops().term(x, 1), _complex),
    "term_copy": Case(lambda x: ops().term_copy(x, 1), _one),
    "saturate": Case(lambda x: ops().saturate(x, 2.0), _one),
    "saturate_": Case(lambda x: ops().saturate_(x.clone(), 2.0), _one),
    "reciprocals": Case(lambda x, y: tuple(ops().reciprocals([x, y])), _pair, forward=False),
    "evaluate": Case(
        lambda x, bias: ops().evaluate(x, bias, 3, [1.0, 2.0], shift=1.0, powers=[2, 1]), _pair, forward=False
    ),
    "repeat_rows": Case(lambda x: ops().repeat_rows(x, [2]), _one),
    "running_mean": Case(lambda x: ops().running_mean(x), _one),
    "relative_error": Case(lambda x, y: ops().relative_error(x, y), lambda: (values(2, 3), 3 * values(3).detach())),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name: str) -> None:
    case = CASES[name]
    assert torch.autograd.gradcheck(case.call, case.inputs(), check_forward_ad=case.forward, check_batched_grad=True)


@pytest.mark.parametrize("name", CASES)
def test_gradients_of_gradients(name: str) -> None:
    case = CASES[name]
    assert torch.autograd.gradgradcheck(case.call, case.inputs(), check_fwd_over_rev=case.forward)


CHECKED: dict[str, tuple[Callable[[], tuple[Any, ...]], dict[str, Any]]] = {
    "ratio.Tensor": (_pair, {}),
    "ratio_.Tensor": (lambda: (values(2, 3).clone(), values(3)), {}),
    "blend": (_pair, {"weight": 0.3}),
    "harmonic_mean": (lambda: (values(2, 3), 1), {}),
    "split_fraction": (_one, {}),
    "term": (lambda: (values(2, 3), 1), {}),
    "term_copy": (lambda: (values(2, 3), 1), {}),
    "saturate": (_one, {}),
    "saturate_": (lambda: (values(2, 3).clone(),), {}),
    "reciprocals": (lambda: ([values(2, 3), values(3)],), {}),
    "evaluate": (lambda: (values(2, 3), values(3)), {}),
    "repeat_rows": (lambda: (values(2, 3), [3]), {}),
    "running_mean": (_one, {}),
}


LIKE: dict[str, Any] = {"ratio_.Tensor": torch.ops.aten.div_.Tensor}
"""Operators of torch's that are like ours, where a release of torch fails its own checks."""


@pytest.mark.usefixtures("rational_package")
@pytest.mark.parametrize("name", CHECKED)
def test_opcheck(name: str) -> None:
    arguments, keywords = CHECKED[name]
    base, _, overload = name.partition(".")
    operator = getattr(getattr(ops(), base), overload or "default")
    report = _checked(operator, arguments(), keywords)
    assert {"test_autograd_registration", "test_aot_dispatch_dynamic"} <= report.keys()
    if set(report.values()) != {"SUCCESS"}:
        # torch 2.14 fails so for in-place operators whose derivatives need `self`.
        assert name in LIKE, report
        assert report == _checked(LIKE[name], arguments(), keywords)


def _checked(operator: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, str]:
    report = torch.library.opcheck(operator, arguments, keywords, raise_exception=False)
    return {name: str(outcome).partition(":")[0] for name, outcome in report.items()}


def test_a_compiled_program_returns_what_it_changed(rational_package: Any) -> None:
    from functorch.compile import aot_function, nop  # type: ignore[import-untyped]

    x = values(2, 3).clone()
    assert type(rational_package.saturate(x).grad_fn).__name__ == "SaturateBackward0"
    compiled = aot_function(ops().saturate_, fw_compiler=nop)
    assert compiled(x) is x


# ------------------------------------------------------------------------------------ the graph


def test_nodes_have_names() -> None:
    x, y = _pair()
    assert ops().ratio(x, y).grad_fn.name() == "RatioBackward0"
    assert ops().ratio_(x.clone(), y).grad_fn.name() == "RatioBackward0"
    assert ops().term(x, 1).grad_fn.name() == "TermBackward0"
    assert ops().term_copy(x, 1).grad_fn.name() == "TermBackward0_copy"


def test_only_what_is_differentiable_has_a_gradient() -> None:
    x, y = _pair()
    whole, part = ops().split_fraction(x)
    assert part.requires_grad
    assert not whole.requires_grad
    assert not ops().ratio(x.detach(), y.detach()).requires_grad
    with torch.no_grad():
        assert not ops().ratio(x, y).requires_grad
    (gradient,) = torch.autograd.grad(ops().ratio(x.detach(), y).sum(), y)
    close(gradient, -(x / y**2).sum(0))


def test_results_without_a_gradient() -> None:
    x, y = _pair()
    first, _ = ops().reciprocals([x, y])
    close(torch.autograd.grad(first.sum(), (x, y), allow_unused=True)[0], -1 / x**2)
    bias = ops().evaluate(x.detach(), y)
    close(torch.autograd.grad(bias.sum(), y)[0], torch.full_like(y, 2))


def test_a_tensor_that_a_node_keeps_must_not_be_written_to() -> None:
    x, y = _pair()
    result = ops().ratio(x, y)
    result.mul_(2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*output 0 of Ratio"):
        result.sum().backward()
    other = y.clone()
    result = ops().ratio(x, other)
    ops().saturate_(other)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*output 0 of Saturate"):
        result.sum().backward()


def test_a_graph_is_walked_once_unless_it_is_kept() -> None:
    x, y = _pair()
    for results in (ops().ratio(x, y), ops().reciprocals([x, y])[0]):
        results.sum().backward(retain_graph=True)
        results.sum().backward()
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            results.sum().backward()


def test_views_and_what_is_written_to_them() -> None:
    x, y = values(2, 3), values(2)
    base = x * 1
    view = ops().term(base, 1)
    ops().blend_(ops().term(base, 2), y, weight=0.25)
    ops().ratio_(view, y)
    got = torch.autograd.grad(base.square().sum(), (x, y))
    columns = x[:, 0], x[:, 1] / y, 0.75 * x[:, 2] + 0.25 * y
    close(got, torch.autograd.grad(torch.stack(columns).square().sum(), (x, y)))
    close(torch.autograd.grad(ops().term(x, 1).sum(), x)[0], torch.tensor([[0.0, 1, 0]] * 2).double())


def test_a_view_is_taken_again_of_another_base() -> None:
    base, other, deep = values(2, 3) * 1, torch.rand(2, 3), torch.rand(2, 3, 4)
    close(ops().term(base, 1)._view_func_unsafe(other), other[:, 1])
    with torch.autograd._force_original_view_tracking(True):
        view, of_view = ops().term(base, 1), ops().term(ops().term(values(2, 3, 4) * 1, 1), 0)
        ops().saturate_(ops().term(base, 2))
    close(view._view_func_unsafe(other), other[:, 1])
    close(view._view_func_unsafe(other, symint_visitor_fn=lambda at: at + 1), other[:, 2])
    close(of_view._view_func_unsafe(deep), deep[:, 0, 1])
    assert torch.autograd.grad(base.sum(), view, allow_unused=True) == (None,)


def test_a_leaf_must_not_be_written_to() -> None:
    x, y = _pair()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad is being used in an in-place operation"):
        ops().ratio_(x, y)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        ops().saturate_(ops().term(x, 1))


def test_what_has_no_derivative_says_so() -> None:
    from torch.autograd import forward_ad

    x, y = _pair()
    with pytest.raises(RuntimeError, match="derivative for rational::jitter is not implemented"):
        ops().jitter(x).sum().backward()
    with pytest.raises(RuntimeError, match=r"ratio\(\): functions with out=... arguments don't support automatic diff"):
        ops().ratio(x, y, out=torch.empty(2, 3, dtype=torch.double))
    with pytest.raises(RuntimeError, match="evaluate has gradients in plain mode"):
        ops().evaluate(x, absolute=True).sum().backward()
    rows = ops().repeat_rows
    with pytest.raises(RuntimeError, match="repeat_rows does not support automatic differentiation for outputs with c"):
        rows(torch.rand(2, dtype=torch.cdouble, requires_grad=True), [2])
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="forward AD with reciprocals that does not"):
        ops().reciprocals([forward_ad.make_dual(x.detach(), x.detach())])


def test_tangents_of_what_is_written_to() -> None:
    from torch.autograd import forward_ad

    x, y = (each.detach() for each in _pair())
    with forward_ad.dual_level():
        base = forward_ad.make_dual(x.clone(), torch.ones_like(x))
        ops().ratio_(ops().term(base, 1), y[:2])
        tangent = forward_ad.unpack_dual(base).tangent
    close(tangent, torch.stack([torch.ones(2).double(), 1 / y[:2], torch.ones(2).double()], 1))


# ------------------------------------------------------------------------- functions of functions


def test_functional_gradients() -> None:
    from torch.func import grad, hessian, jacrev, jvp, vmap

    x, y = (each.detach() for each in _pair())
    batch = values(5, 2, 3).detach()

    def loss(x: Any, y: Any) -> Any:
        return ops().ratio(ops().saturate(x), y).square().sum()

    def same(x: Any, y: Any) -> Any:
        return (x / (1 + x.abs()) / y).square().sum()

    close(grad(loss)(x, y), grad(same)(x, y))
    close(vmap(grad(loss), (0, None))(batch, y), vmap(grad(same), (0, None))(batch, y))
    close(vmap(grad(loss, 1), (0, None))(batch, y), vmap(grad(same, 1), (0, None))(batch, y))
    close(jvp(lambda x: loss(x, y), (x,), (x,)), jvp(lambda x: same(x, y), (x,), (x,)))
    (tangents,) = vmap(lambda v: jvp(lambda x: ops().term(x, 1) * 1, (x,), (v,))[1:])(batch)
    close(tangents, batch[:, :, 1])
    close(hessian(loss)(x, y), hessian(same)(x, y))
    close(jacrev(lambda x: ops().harmonic_mean(x, 1))(x), jacrev(lambda x: 1 / (1 / x).mean(1))(x))


def program(x: Any, y: Any) -> Any:
    """A bit of everything that has a gradient."""
    z = ops().ratio(x, y) + ops().blend(x, y, weight=0.3)
    ops().blend_(z, y)
    ops().saturate_(ops().term(z, 0))
    part = ops().split_fraction(z * 7)[1]
    rows = ops().repeat_rows(part, [x.shape[0]])
    first, second = ops().reciprocals([z, y])
    mean = ops().harmonic_mean(z + 5, 1) + ops().evaluate(x, y).sum(1)
    return mean.sum() + rows.sum() + first.sum() + ops().running_mean(second).sum() + ops().term_copy(z, 1).sum()


def test_compile() -> None:
    from torch._dynamo.testing import CompileCounterWithBackend

    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(program, backend=counter, fullgraph=True, dynamic=True)
    for rows, columns in ((3, 4), (5, 6)):
        x, y = values(rows, columns), values(columns)
        close(torch.autograd.grad(compiled(x, y), (x, y)), torch.autograd.grad(program(x, y), (x, y)))
    assert counter.frame_count == 1


def test_compiled_graphs_of_gradients() -> None:
    from torch._dynamo import compiled_autograd

    torch._dynamo.reset()
    x, y = values(3, 4), values(4)
    expected = torch.autograd.grad(program(x, y), (x, y))
    result = program(x, y)
    with compiled_autograd._enable(lambda graph: torch.compile(graph, backend="eager", fullgraph=True)):
        result.backward()
    close((x.grad, y.grad), expected)
