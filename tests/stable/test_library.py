"""A library in torch's stable ABI, built once: eager, gradients, compilers, vmap, version counters.

OPGEN_TEST_PORTABLE names the folder of a package that is built already: so one binary runs these tests with any
release of torch and any Python.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")

Function = Callable[..., Any]


def numbers(*sizes: int, grad: bool = False) -> Any:
    """Numbers that are not near 0."""
    return (torch.rand(sizes, dtype=torch.double) + 0.5).requires_grad_(grad)


# ------------------------------------------------------------------------------------ the binary


def test_no_symbol_of_torch_in_cpp_is_undefined(built: Path) -> None:
    (binary,) = (built / "portable").glob("_C.abi3.*")
    said = subprocess.run(["nm", "-DC", "--undefined-only", binary], capture_output=True, text=True, check=True).stdout
    symbols = [line.split(maxsplit=1)[1] for line in said.splitlines()]
    assert any(symbol.startswith("aoti_torch_") for symbol in symbols)
    assert not [symbol for symbol in symbols if any(f"{space}::" in symbol for space in ("at", "c10", "torch"))]


# ----------------------------------------------------------------------------------------- eager


def test_functions_work_as_those_of_an_ordinary_extension(portable: ModuleType) -> None:
    a, b = numbers(3, 4), numbers(4)
    expected = a + 2 * b
    torch.testing.assert_close(portable.scaled_add(a, b, scale=2), expected)
    torch.testing.assert_close(portable.scaled_add(input=a, other=b, scale=2), expected)
    out = torch.empty(0, dtype=torch.double)
    assert portable.scaled_add(a, b, scale=2, out=out) is out
    torch.testing.assert_close(out, expected)
    assert portable.scaled_add_(a, b, scale=2) is a
    torch.testing.assert_close(a, expected)
    with pytest.raises(TypeError, match="unexpected keyword argument 'by'"):
        portable.scaled_add(a, b, by=2)


def test_numbers_stand_for_tensors(portable: ModuleType) -> None:
    single = torch.rand(3)
    result = portable.ratio(1, single)
    assert result.dtype == torch.float32
    torch.testing.assert_close(result, 1 / single)


def test_docstrings(portable: ModuleType) -> None:
    assert portable.scaled_add.__doc__.startswith("scaled_add(input, other, *, scale=1.0, out=None) -> Tensor")
    assert "multiplied by `scale`, to `input`." in portable.scaled_add.__doc__


def test_named_tuples(portable: ModuleType) -> None:
    found = portable.extremes(torch.tensor([3.0, 1.0, 2.0]))
    assert isinstance(found, portable.return_types.extremes)
    assert (found.least, found.greatest) == (1, 3)


def test_lists_of_tensors(portable: ModuleType) -> None:
    a, b = numbers(3), numbers(3)
    torch.testing.assert_close(portable.total([a, b]), a + b)
    torch.testing.assert_close(portable.total([a, b], b), (a + b) * b)
    halves = portable.halves(a)
    assert isinstance(halves, tuple)
    torch.testing.assert_close(halves, (a / 2, a / 2))


def test_overloads(portable: ModuleType) -> None:
    a = numbers(3)
    torch.testing.assert_close(portable.shift(a, 2), a + 2)
    torch.testing.assert_close(portable.shift(a, by=a), a + a)
    torch.testing.assert_close(portable.shift(input=a, by=a), a + a)


def test_factories(portable: ModuleType) -> None:
    made = portable.filled((2, 3), 4, dtype=torch.float64, requires_grad=True)
    assert made.requires_grad
    torch.testing.assert_close(made.detach(), torch.full((2, 3), 4.0, dtype=torch.float64))


def test_derived_out_form(portable: ModuleType) -> None:
    a = numbers(3, 4)
    out = torch.empty(0, dtype=torch.double)
    assert portable.rowsum(a, 1, keepdim=True, out=out) is out
    torch.testing.assert_close(out, a.sum(1, keepdim=True))


def test_every_type_passes(portable: ModuleType) -> None:
    ops, a = torch.ops.portable, numbers(2)
    plain = (3, 2.5, True, "text", torch.float16, torch.strided, torch.device("cpu"), torch.channels_last)
    e, f, g, h = plain[4:]
    found = ops.echo(*plain[:4], e=e, f=f, g=g, h=h)
    assert [str(value) for value in found[:4]] == ["3", "2.5", "True", "text"]
    lists = ([1, 2], [0.5], ["a", "b c"], [a, a], [True, False, True], [[1], [2, 3]])
    assert ops.echo_lists(*lists) == ([1, 2], [0.5], ["a", "b c"], [a, a], 2, [[1], [2, 3]])
    none = (None,) * 6
    assert ops.echo_optional(*none, [None, a], None, None, 7, [8, 9]) == (*none, [None, a], None, None, 7, [8, 9])
    some = (1, 2.0, False, "t", a, [3])
    found = ops.echo_optional(*some, [], torch.int64, torch.device("cpu"), 7, [8, 9])
    assert found[:7] == (*some, [])
    assert found[9:] == (7, [8, 9])


def test_inference_mode(portable: ModuleType) -> None:
    with torch.inference_mode():
        a = numbers(3)
        torch.testing.assert_close(portable.scaled_add_(a.clone(), a), a + a)
        torch.testing.assert_close(portable.ratio(a, a), torch.ones(3, dtype=torch.double))


# ------------------------------------------------------------------------------------- gradients


def _in_place(function: Function) -> Function:
    return lambda first, *others, **named: function(first * 1, *others, **named) * first


def differentiable(portable: ModuleType) -> dict[str, tuple[Function, tuple[Any, ...]]]:
    """Calls that have gradients."""
    a, b, row = numbers(2, 3, grad=True), numbers(2, 3, grad=True), numbers(3, grad=True)
    return {
        "scaled_add": (lambda x, y: portable.scaled_add(x, y, scale=3), (a, row)),
        "scaled_add_": (_in_place(lambda x, y: portable.scaled_add_(x, y, scale=3)), (a, row)),
        "ratio": (portable.ratio, (a, b)),
        "ratio_": (_in_place(portable.ratio_), (a, b)),
        "rowsum": (lambda x: portable.rowsum(x, 1), (a,)),
        "rowsum keepdim": (lambda x: portable.rowsum(x, 0, keepdim=True), (a,)),
        "extremes": (lambda x: tuple(portable.extremes(x)), (a,)),
        "total": (lambda x, y, weight: portable.total([x, y], weight), (a, b, numbers(2, 3, grad=True))),
        "total without weight": (lambda x, y: portable.total([x, y]), (a, b)),
        "halves": (portable.halves, (a,)),
        "joined": (lambda x, y: portable.joined([x, None, y]), (a, b)),
        "parts": (lambda x: portable.parts(x).fraction, (a,)),
        "difference": (portable.difference, (a, b)),
    }


def test_gradients(portable: ModuleType) -> None:
    for name, (function, inputs) in differentiable(portable).items():
        assert torch.autograd.gradcheck(function, inputs), name
        if name != "extremes":
            assert torch.autograd.gradgradcheck(function, inputs), name


def test_nodes_are_called_as_torch_calls_them(portable: ModuleType) -> None:
    a = numbers(2, 3).requires_grad_()
    assert portable.scaled_add(a, a).grad_fn.name() == "ScaledAddBackward"


def test_functional_transforms(portable: ModuleType) -> None:
    a = numbers(2, 3)

    def loss(x: Any) -> Any:
        return (portable.ratio_(x * 2, x + 1) * portable.scaled_add(x, x, scale=3)).sum()

    def expected(x: Any) -> Any:
        return (x * 2 / (x + 1) * (x + 3 * x)).sum()

    torch.testing.assert_close(torch.func.grad(loss)(a), torch.func.grad(expected)(a))
    twice, twice_expected = (torch.func.jacrev(torch.func.jacrev(function)) for function in (loss, expected))
    torch.testing.assert_close(twice(a), twice_expected(a))
    torch.testing.assert_close(torch.func.vmap(torch.func.grad(loss))(a), torch.func.vmap(torch.func.grad(expected))(a))
    torch.testing.assert_close(torch.func.jacrev(portable.halves)(a)[0], torch.func.jacrev(lambda x: x / 2)(a))


def test_missing_derivatives_are_errors(portable: ModuleType) -> None:
    a = numbers(3, grad=True)
    with pytest.raises(NotImplementedError, match="derivative for portable::copied is not implemented"):
        portable.copied(a).sum().backward()
    with pytest.raises(NotImplementedError, match="derivative for portable::clear_ is not implemented"):
        portable.clear_(a * 1).sum().backward()
    for forward in (
        torch.func.jacfwd(lambda x: portable.ratio(x, x)),
        torch.func.hessian(lambda x: portable.ratio(x, x)),
    ):
        with pytest.raises(NotImplementedError, match="no forward-mode derivatives"):
            forward(numbers(3))
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        portable.scaled_add(a, a, out=torch.empty(3, dtype=torch.double))
    with pytest.raises(RuntimeError, match="portable::masked is not differentiable with respect to argument 'mask'"):
        portable.masked(a, a, numbers(3))
    with pytest.raises(NotImplementedError, match="derivative for masked scale is not implemented"):
        portable.masked(a, numbers(3), a).sum().backward()
    with pytest.raises(RuntimeError, match="leaf"):
        portable.scaled_add_(a, a)


def test_writing_lists_has_no_derivative(portable: ModuleType) -> None:
    first, second = numbers(3, grad=True) * 1, numbers(3)
    portable.halve_all([second, first])
    assert (first.requires_grad, second.requires_grad) == (True, True)
    with pytest.raises(NotImplementedError, match="derivative for portable::halve_all"):
        second.sum().backward()


def test_accumulating_has_no_derivative(portable: ModuleType) -> None:
    total, value = numbers(3), numbers(3, grad=True)
    portable.accumulate(total, value)
    assert total.requires_grad
    with pytest.raises(NotImplementedError, match="derivative for portable::accumulate"):
        total.sum().backward()


def test_results_without_gradients(portable: ModuleType) -> None:
    found = portable.parts(numbers(3, grad=True))
    assert (found.whole.requires_grad, found.fraction.requires_grad) == (False, True)


def test_saved_tensors_are_freed(portable: ModuleType) -> None:
    import gc
    import weakref

    a = numbers(3, grad=True)
    middle = a * 1
    result = portable.ratio(middle, a)
    kept = weakref.ref(middle)
    del middle
    result.sum().backward()
    del result
    gc.collect()
    assert kept() is None


# ---------------------------------------------------------------------------------------- writes


def test_writes_count_versions(portable: ModuleType) -> None:
    writes: tuple[Function, ...] = (
        lambda x: portable.scaled_add_(x, numbers(3)),
        lambda x: portable.scaled_add(numbers(3), numbers(3), out=x),
        lambda x: portable.rowsum(numbers(2, 3), out=x),
        lambda x: portable.clear_(x),
        lambda x: portable.accumulate(x, numbers(3)),
        lambda x: portable.halve_all([numbers(3), x]),
        lambda x: portable.halve_all([numbers(3)], x),
    )
    for write in writes:
        tensor = numbers(3)
        before = tensor._version
        write(tensor)
        assert tensor._version > before


def test_a_saved_tensor_may_not_be_written(portable: ModuleType) -> None:
    a = numbers(3, grad=True)
    b = a * 1
    squared = b * b
    portable.clear_(b.detach())
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        squared.sum().backward()


def test_gradients_flow_through_views_that_are_written(portable: ModuleType) -> None:
    a, b = numbers(2, 3, grad=True), numbers(3, grad=True)
    base = a * 1
    portable.scaled_add_(base[0], b, scale=3)
    base.sum().backward()
    torch.testing.assert_close(a.grad, torch.ones(2, 3, dtype=torch.double))
    torch.testing.assert_close(b.grad, torch.full((3,), 3.0, dtype=torch.double))


# ------------------------------------------------------------------------------------- compilers


def _program(portable: ModuleType) -> Function:
    def program(a: Any, b: Any) -> Any:
        c = portable.scaled_add(a, b, scale=2)
        d = portable.ratio_(c * 1, b)
        portable.scaled_add_(d, c)
        total = torch.zeros_like(d)
        portable.accumulate(total, d)
        portable.scaled_add(c, d, out=total)
        portable.halve_all([total, d], c)
        cleared = portable.clear_(d.detach() * 1)
        least, greatest = portable.extremes(c)
        first, second = portable.halves(c)
        made = portable.filled((3,), 2, dtype=torch.double)
        rows = portable.rowsum(d, 1) + portable.total([c, first]).sum(1) + made[0]
        return d + cleared + second + least * greatest, rows, total.detach()

    return program


def _detached(results: Any) -> Any:
    return [result.detach() for result in results]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_compiles_as_one_graph(portable: ModuleType, backend: str) -> None:
    program = _program(portable)
    compiled = torch.compile(program, backend=backend, fullgraph=True, dynamic=True)
    # The keys of torch's caches don't tell builds of the library apart.
    fresh = torch.compiler.config.patch(force_disable_caches=True)
    # These save time: one source doesn't pay for headers that are precompiled.
    quick = torch._inductor.config.patch({"cpp_cache_precompile_headers": False, "cpp.vec_isa_ok": True})
    with torch.no_grad(), fresh, quick:
        for size in (3, 5):
            a, b = numbers(size, 4), numbers(4)
            torch.testing.assert_close(_detached(compiled(a, b)), _detached(program(a, b)))


@pytest.mark.filterwarnings("ignore")
def test_compiles_with_gradients(portable: ModuleType) -> None:
    def program(a: Any, b: Any) -> Any:
        c = portable.scaled_add(a, b, scale=2)
        d = portable.ratio_(c * 1, b)
        return portable.rowsum(d, 1) + portable.total([c, d], d).sum(1) + portable.halves(c)[1].sum()

    compiled = torch.compile(program, backend="aot_eager", fullgraph=True)
    found = []
    for function in (program, compiled):
        torch.manual_seed(0)
        a, b = numbers(3, 4, grad=True), numbers(4, grad=True)
        function(a, b).sum().backward()
        found.append((a.grad, b.grad))
    torch.testing.assert_close(found[0], found[1])


@pytest.mark.filterwarnings("ignore")
def test_exports(portable: ModuleType) -> None:
    program = _program(portable)

    class Module(torch.nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, a: Any, b: Any) -> Any:
            return program(a, b)

    a, b = numbers(3, 4), numbers(4)
    rows = torch.export.Dim("rows", min=2, max=64)
    exported = torch.export.export(Module(), (a, b), dynamic_shapes=({0: rows}, None)).run_decompositions()
    targets = {str(node.target) for node in exported.graph.nodes if "portable" in str(node.target)}
    assert {"portable.scaled_add.default", "portable.ratio.default", "portable._functional_clear_.default"} <= targets
    assert not {target for target in targets if "scaled_add_" in target or "ratio_" in target}
    longer = numbers(5, 4)
    torch.testing.assert_close(_detached(exported.module()(longer, b)), _detached(program(longer, b)))


@pytest.mark.filterwarnings("ignore")
def test_torch_checks_the_operators(portable: ModuleType) -> None:
    ops, a, b = torch.ops.portable, numbers(2, 3), numbers(2, 3)
    grad = [tensor.clone().requires_grad_() for tensor in (a, b)]
    samples: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (ops.scaled_add.default, (*grad,), {"scale": 2.0}),
        (ops.scaled_add.default, (a, b[0]), {}),
        (ops.scaled_add_.default, (a.clone(), b), {"scale": 2.0}),
        (ops.ratio.default, (*grad,), {}),
        (ops.ratio_.default, (a.clone(), b), {}),
        (ops.rowsum.default, (grad[0], 1), {"keepdim": True}),
        (ops.extremes.default, (grad[0],), {}),
        (ops.total.default, (grad, None), {}),
        (ops.halves.default, (grad[0],), {}),
        (ops.clear_.default, (a.clone(),), {}),
        (ops.accumulate.default, (a.clone(), b), {}),
        (ops.filled.default, ([2, 3], 1.0), {"dtype": torch.double}),
        (ops.difference.default, (*grad,), {}),
    ]
    for operator, args, kwargs in samples:
        torch.library.opcheck(operator, args, kwargs)


def test_functionalize(portable: ModuleType) -> None:
    # torch rejects operators whose writes it replaces itself when it compiles.
    def program(a: Any, b: Any) -> Any:
        c = portable.ratio_(portable.scaled_add(a, b), b)
        return c * 1, portable.clear_(c), portable.scaled_add(c, a, out=torch.zeros_like(a))

    a, b = numbers(3, 4), numbers(4)
    found = torch.func.functionalize(program)(a, b)
    torch.testing.assert_close(_detached(found), _detached(program(a, b)))


# ------------------------------------------------------------------------------------------ vmap


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_loops_over_other_operators(portable: ModuleType) -> None:
    a = numbers(4, 2, 3)
    torch.testing.assert_close(torch.func.vmap(portable.rowsum)(a), a.sum(1))
    grads = torch.func.vmap(torch.func.grad(lambda x: (portable.rowsum(x) ** 2).sum()))(a)
    torch.testing.assert_close(grads, torch.func.vmap(torch.func.grad(lambda x: (x.sum(0) ** 2).sum()))(a))


@pytest.mark.filterwarnings("error:There is a performance drop")
def test_vmap_is_one_call(portable: ModuleType) -> None:
    a, b, row = numbers(4, 2, 3), numbers(3, 4), numbers(3)
    vmap = torch.func.vmap
    found = vmap(lambda x, y: portable.scaled_add(x, y, scale=2), in_dims=(0, 1))(a, b)
    torch.testing.assert_close(found, a + 2 * b.T[:, None, :])
    torch.testing.assert_close(vmap(portable.ratio, in_dims=(0, None))(a, row), a / row)
    torch.testing.assert_close(vmap(portable.ratio, in_dims=(None, 1))(a, b), a / b.T[:, None, None, :])
    written = a.clone()
    vmap(portable.scaled_add_, in_dims=(0, None))(written, row)
    torch.testing.assert_close(written, a + row)
    with pytest.raises(RuntimeError, match="can't write a batch"):
        vmap(portable.scaled_add_, in_dims=(None, 1))(row, b)
