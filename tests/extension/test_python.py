"""The Python package of examples/rational: torch's calling conventions, documentation, types for a type checker."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.extension.building import ROOT, Built, alone, run

torch = pytest.importorskip("torch")

close = torch.testing.assert_close


@pytest.fixture(scope="module")
def package(rational_package: Any) -> Any:
    """The package."""
    return rational_package


def values(*sizes: int) -> Any:
    """Numbers between 1 and 2."""
    return torch.rand(*sizes) + 1


# --------------------------------------------------------------------------------- conventions


def test_forms_of_an_operator(package: Any) -> None:
    a, b = values(3, 4), values(4)
    close(package.ratio(a, b), a / b)
    close(package.ratio(a, other=b, eps=2), a / (b + 2))
    close(package.ratio(input=a, other=b), a / b)
    out = torch.empty(0)
    assert package.ratio(a, b, out=out) is out
    close(out, a / b)
    changed = a.clone()
    assert package.ratio_(changed, b) is changed
    close(changed, a / b)


def test_numbers_stand_for_tensors(package: Any) -> None:
    a = values(3, 4)
    close(package.ratio(a, 2), a / 2)
    close(package.ratio(1, a), 1 / a)
    close(package.ratio(a, 2.0, out=torch.empty(0)), a / 2)
    close(package.blend(a, 3.0, weight=0.25), a + 0.25 * (3 - a))
    close(package.blend_(a.clone(), 3), (a + 3) / 2)
    assert package.blend(a.half(), 0.1).dtype == torch.float16
    assert package.ratio(a.double(), 2).dtype == torch.float64


def test_several_results_have_names(package: Any) -> None:
    a = values(3, 4) * 3
    found = package.split_fraction(a)
    assert type(found) is package.return_types.split_fraction
    close(found.whole, a.trunc())
    close(found[1], a.frac())
    assert repr(found).startswith("rational.return_types.split_fraction(whole=tensor(")
    outs = torch.empty(0), torch.empty(0)
    written = package.split_fraction(a, out=outs)
    assert type(written) is package.return_types.split_fraction
    assert written.part is outs[1]
    assert type(pickle.loads(pickle.dumps(found))) is type(found)
    assert len(torch.utils._pytree.tree_leaves(found)) == 2
    close(torch.func.vmap(package.split_fraction)(a).part, a.frac())


def test_options_of_a_factory(package: Any) -> None:
    made = package.unit_fractions(3, dtype=torch.float64, requires_grad=True)
    assert made.requires_grad
    close(made.detach(), torch.tensor([1, 1 / 2, 1 / 3], dtype=torch.float64))
    assert package.unit_fractions(3, device="meta").is_meta
    assert not package.unit_fractions(3).requires_grad


def test_lists_options_and_generators(package: Any) -> None:
    a = values(3, 4)
    first, second = package.reciprocals([a, torch.zeros(2)], 7.0)
    close(first, 1 / a)
    close(second, torch.full((2,), 7.0))
    close(package.repeat_rows(a, 2), a.expand(2, 3, 4))
    close(package.repeat_rows(a, [2]), a.expand(2, 3, 4))
    close(package.evaluate(a), a / (a + 1))
    close(package.evaluate(a, a, 1, mode="inverse", limit=30, powers=[2, 1]), 1 / (a**2 / (a + 1) + a))
    one, other = (package.jitter(a, generator=torch.Generator().manual_seed(0)) for _ in range(2))
    close(one, other)


def test_wrong_arguments(package: Any) -> None:
    a, b = values(3, 4), values(4)
    wrong: Sequence[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: package.running_mean(), TypeError, r"rational\.running_mean\(\) missing 1 required positional"),
        (lambda: package.running_mean("x"), TypeError, r"argument 'input' \(position 1\) must be Tensor, not str"),
        (lambda: package.harmonic_mean(a, 0, True, out=a, x=1), TypeError, "unexpected keyword argument 'x'"),
        (lambda: package.harmonic_mean(a, 0, True, a), TypeError, "takes from 1 to 3 positional arguments"),
        (lambda: package.ratio(a, "x"), TypeError, r"rational\.ratio\(\) received an invalid combination"),
        (lambda: package.ratio(a, b, 1), TypeError, r"Tensor input, Tensor other, \*, Number eps = 0"),
        (lambda: package.blend(1, 2), TypeError, r"rational\.blend\(\) received an invalid combination"),
        (lambda: package.ratio(a, values(5)), RuntimeError, "must match the size of tensor b"),
        (lambda: package.unit_fractions(-1), RuntimeError, "can't be negative"),
        (lambda: package.unit_fractions(3, dtype="x"), TypeError, "must be torch.dtype, not str"),
    ]
    for call, error, message in wrong:
        with pytest.raises(error, match=message):
            call()


def test_subclasses_and_modes_take_over(package: Any) -> None:
    seen = []

    class Watched(torch.Tensor):  # type: ignore[misc,name-defined]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((func, kwargs))
            return super().__torch_function__(func, types, args, kwargs or {})

    a, b = values(3, 4), values(4)
    watched = a.as_subclass(Watched)
    assert type(package.ratio(watched, b, eps=1)) is Watched
    assert seen == [(package.ratio, {"eps": 1})]
    assert type(package.split_fraction(watched).whole) is Watched

    class Own:
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func, types, len(args), kwargs

    assert package.blend(a, Own(), weight=1) == (package.blend, (Own,), 2, {"weight": 1})

    class Mode(torch.overrides.TorchFunctionMode):  # type: ignore[misc,name-defined]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            return func(*args, **(kwargs or {}))

    with Mode():
        package.blend(a, b)
    assert seen[-1] is package.blend


def test_compilers_take_calls_into_their_graphs(package: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        z = package.ratio(x, y, eps=1)
        package.saturate_(z)
        whole, part = package.split_fraction(package.blend(z, 3.5) * 7)
        return package.split_fraction(whole).whole + part, package.repeat_rows(x, [x.shape[0]]), package.ratio(1, y)

    torch._dynamo.reset()
    compiled = torch.compile(program, backend="aot_eager", fullgraph=True, dynamic=True)
    for rows in (3, 5):
        x, y = values(rows, 4), values(4)
        close(compiled(x, y), program(x, y))
    x, y = values(5, 3, 4), values(4)
    close(torch.func.vmap(package.ratio, in_dims=(0, None))(x, y), x / y)


def test_code_generated_for_a_program_calls_operators_rightly(
    package: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """torch's code generator prefers out forms, which it can't call with keywords, lists or several results."""
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", os.fspath(tmp_path))

    def program(x: Any, y: Any) -> Any:
        # Nothing but these operators, so that no kernel has to be compiled.
        z = package.harmonic_mean(package.ratio(x, y, eps=1), 1, True)
        return package.split_fraction(z).part, package.repeat_rows(z, 2)

    torch._dynamo.reset()
    x, y = values(3, 4), values(4)
    close(torch.compile(program, fullgraph=True)(x, y), program(x, y))


# ------------------------------------------------------------------------------- documentation


def test_docstrings(package: Any) -> None:
    assert package.ratio.__doc__ == (
        "ratio(input, other, *, eps=0, out=None) -> Tensor\n\n"
        "Divides `input` by `other` plus `eps`, element by element.\n\n"
        "ratio(input, other, *, eps=0) -> Tensor\n\n"
        "Divides `input` by the number `other` plus `eps`.\n"
    )
    assert package.split_fraction.__doc__.startswith(
        "split_fraction(input, *, out=None) -> (Tensor whole, Tensor part)"
    )
    assert "In-place `blend`" in package.blend_.__doc__
    assert "requires_grad=False" in package.unit_fractions.__doc__
    assert all(getattr(package, name).__doc__ for name in package.__all__)


# ----------------------------------------------------------------------------------------- types

CALLS = """\
from typing_extensions import assert_type

import rational
import torch
from rational import return_types
from torch import Tensor

a, b = torch.rand(3), torch.rand(3)
assert_type(rational.ratio(a, b), Tensor)
rational.ratio(a, other=2.5, eps=1, out=b)
rational.ratio(1, b)
rational.ratio_(a, b)
rational.blend(a, True, weight=0.5)
assert_type(rational.split_fraction(a), return_types.split_fraction)
assert_type(rational.split_fraction(a, out=(a, b)).whole, Tensor)
whole, part = rational.split_fraction(a)
assert_type(part, Tensor)
assert_type(rational.reciprocals([a, b], 1.0), tuple[Tensor, ...])
rational.evaluate(a, None, 2, [1.0], mode="inverse", powers=2, dtype=torch.float64)
rational.repeat_rows(a, 2)
rational.unit_fractions(3, dtype=torch.float64, device="cpu", requires_grad=True)
rational.jitter(a, generator=torch.Generator())

rational.ratio(a)  # type: ignore[call-overload]
rational.ratio("x", b)  # type: ignore[call-overload]
rational.ratio(a, b, 1)  # type: ignore[call-overload]
rational.saturate(a, limit="x")  # type: ignore[arg-type]
rational.unit_fractions(3, torch.float64)  # type: ignore[call-arg]
rational.relative(a, b)  # type: ignore[attr-defined]
"""


def test_a_type_checker_takes_the_package_and_calls_of_it(
    rational: Built, tmp_path: Path, type_check: Callable[..., tuple[int, str]]
) -> None:
    (tmp_path / "calls.py").write_text(CALLS, encoding="utf-8")
    assert type_check(tmp_path, "calls.py", rational.python / "rational", path=rational.python) == (0, "")


# ------------------------------------------------------------------------------------- libraries


@pytest.mark.parametrize("first", ["package", "library"])
def test_package_and_library_are_loaded_once(first: str, rational: Built) -> None:
    steps = ["import rational", f"torch.ops.load_library({os.fspath(rational.library('rational'))!r})"]
    program = [
        "import torch",
        *(steps if first == "package" else reversed(steps)),
        "x = torch.ones(2)",
        "assert rational.ratio(x, x).equal(torch.ops.rational.ratio(x, x))",
        "import sys; assert 'torch._dynamo' not in sys.modules",
    ]
    with alone(rational):
        run([sys.executable, "-c", "\n".join(program)], ROOT, PYTHONPATH=os.fspath(rational.python))
