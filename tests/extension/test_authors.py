"""Operators as authors register them by hand today: each kind builds, runs, and works with torch's compilers."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.extension.building import Built, alone, build_once, require_tools, run

torch = pytest.importorskip("torch")

close = torch.testing.assert_close


@pytest.fixture(scope="module")
def built(builds: Path) -> Built:
    """The library."""
    require_tools("ninja")
    return build_once("authors", Path(__file__).with_name("authors"), builds, is_quick=True)


@pytest.fixture(scope="module")
def package(built: Built) -> Any:
    """The Python package of the library, which is loaded."""
    torch.ops.load_library(os.fspath(built.library("authors")))
    sys.path.insert(0, os.fspath(built.python))
    try:
        return importlib.import_module("authors")
    finally:
        sys.path.remove(os.fspath(built.python))


def test_a_compiled_model_calls_kernels_without_python(package: Any, tmp_path: Path) -> None:
    checks = Path(__file__).with_name("aoti_checks.py")
    folder = Path(package.__file__).parents[1]
    quick = {"TORCHINDUCTOR_VEC_ISA_OK": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    said = run([sys.executable, checks, folder, tmp_path], tmp_path, TORCHINDUCTOR_CACHE_DIR=str(tmp_path), **quick)
    assert said == "right without Python\n"


def test_shape_functions_in_python(built: Built, package: Any) -> None:
    """They serve compilers, and a change of them compiles nothing."""
    x = torch.empty(3, device="meta")
    result = package.c(x)
    assert (result.shape, result.dtype, result.device.type) == ((3,), torch.float32, "meta")
    shapes = built.source / "ops" / "meta.py"
    with alone(built):
        text = shapes.read_text()
        shapes.write_text(text + "# changed\n")
        said = run(["ninja"], built.build)
        shapes.write_text(text)
    assert "opgen authors: " in said
    assert "Building" not in said


def ones() -> Any:
    return torch.ones(3)


def test_texts_are_owned(package: Any) -> None:
    wanted = "hi a long text that is surely on the heap"
    for say in (package.say, torch.ops.authors.say):
        assert say(ones(), "hi") == wanted
        assert say(ones().requires_grad_(), "hi") == wanted


def test_lists_of_tensors_that_may_be_none(package: Any) -> None:
    for remap in (package.remap, torch.ops.authors.remap):
        u = torch.zeros(3)
        close(remap(ones(), u, [ones(), ones()]), ones() * 4)
        close(u, ones())
        close(remap(ones(), u), ones() * 3)


def test_an_argument_called_out_means_nothing(package: Any) -> None:
    out = torch.zeros(3)
    close(package.rms(ones(), out), ones() * 2)
    close(out, ones())
    _, second = package.rms2(ones(), out=out)
    close(second, ones() * 3)


def test_defaults_are_what_torch_reads(package: Any) -> None:
    for c in (package.c, torch.ops.authors.c):
        assert c(torch.ones(3, dtype=torch.float64)).dtype is torch.float32
        assert c(ones(), d=torch.float16, e="cpu").dtype is torch.float16


def test_nested_types(package: Any) -> None:
    ops = torch.ops.authors
    close(ops.g(ones(), [[1, 2], [3]], {"a": ones()}), ones() * 7)
    assert ops.tup(ones(), (3, ones())) == 3j
    assert ops.strs(ones(), ["a", "b" * 40], [True, False, True], [1, None]) == ["a", "b" * 40]
    close(ops.anyarg(ones()), ones())
    assert not hasattr(package, "g")


def test_results_that_may_be_none(package: Any) -> None:
    ops = torch.ops.authors
    close(ops.parts(ones(), True)[0], ones() * 2)
    assert ops.parts(ones(), True)[1] is None
    assert ops.ol(ones(), False) is None
    assert ops.il(ones(), True) == [1, 2]
    with pytest.raises(RuntimeError, match="derivative for authors::parts is not implemented"):
        ops.parts(ones().requires_grad_(), True)[0].sum().backward()


def test_a_device_alone_selects_the_backend(package: Any) -> None:
    close(package.make(3), ones())
    assert torch.ops.authors.make(3, device="meta").device.type == "meta"


def test_results_that_are_several(package: Any) -> None:
    for describe in (package.describe, torch.ops.authors.describe):
        text, tensor = describe(ones(), "a name")
        assert text == "a name of a tensor, in a text that is too long to be within its object"
        close(tensor, ones() * 2)
    tensors, numbers, listed = torch.ops.authors.maybes(ones())
    close(tensors[0], ones() * 2)
    assert tensors[1] is None
    assert numbers is None
    close(listed[0], ones() * 3)


def test_types_within_types(package: Any) -> None:
    found = torch.ops.authors.nest(ones(), {"a": [ones(), ones()]}, [(3, ("b", None))], {1: {"half": 0.5}})
    assert {name: number for name, (number, _) in found.items()} == {"a": 2, "b": 3}
    close(found["a"][1], ones() / 2)
    close(found["b"][1], ones())


def test_defaults_of_all_types(package: Any) -> None:
    said = torch.ops.authors.dflt(ones())
    assert said == 'StridedContiguouscpu:0Chara"b[1, 2]10[3, 3]12.5'


def test_backends_are_found_in_optional_lists(package: Any) -> None:
    for lookup in (package.lookup, torch.ops.authors.lookup):
        close(lookup([ones(), ones() * 2], 1), ones() * 4)
        assert lookup([torch.empty(3, device="meta")], 0).device.type == "meta"


def test_factories_with_a_device_that_must_be_given(package: Any) -> None:
    for zeros_of in (package.zeros_of, torch.ops.authors.zeros_of):
        close(zeros_of(2, device="cpu"), torch.zeros(2))
        assert zeros_of(2, device="meta").device.type == "meta"
    close(torch.ops.authors.zeros_of(2, device=None), torch.zeros(2))


def test_classes_of_the_extension(package: Any) -> None:
    counter = torch.classes.authors.Counter(4)
    again = torch.ops.authors.bump(counter, ones())
    assert again.count() == counter.count() == 7
    with pytest.raises(RuntimeError, match="Counter"):
        torch.ops.authors.bump(ones(), ones())


def test_arguments_that_lists_may_follow(package: Any) -> None:
    for later in (package.later, torch.ops.authors.later):
        close(later(ones(), 2, [3], c=ones()), ones() * 7)


def test_names_that_generated_code_has(package: Any) -> None:
    for ops in (package, torch.ops.authors):
        close(ops.only(ones()), ones() * 5)
        close(ops.at(ones(), ones()), ones() * 2)
        close(ops.self_ops(ones()), ones() * 2)
        written = torch.zeros(3)
        ops.std(written, ones())
        close(written, ones())
        named = {"from": ones(), "lambda": ones(), "double": 2.0, "default": ones()}
        close(ops.keywords(*named.values()), ones() * 4)
    close(torch.ops.authors.keywords(**named), ones() * 4)
    close(torch.ops.authors.self(ones()), ones() * 2)


def double(*values: float) -> Any:
    return torch.tensor(values, dtype=torch.double, requires_grad=True)


def test_operators_called_as_members_of_their_classes(package: Any) -> None:
    for ops in (package, torch.ops.authors):
        close(ops.call(ones(), 2), ones() * 3)
        close(ops.schema(ones()), ones() * 2)
        close(ops.DeviceGuard(ones()), ones() * 2)


def test_formulas_with_arguments_of_any_name(package: Any) -> None:
    tensors = [double(1.5, 2.5) for _ in range(7)]

    def naming(op: Any, result: Any, grad_fn: Any, grads: Any, self_: Any, x: Any, naming: Any) -> Any:
        return torch.ops.authors.naming(op, 3, result, grad_fn, 4, grads, self_, x, 5, naming)

    assert torch.autograd.gradcheck(naming, tensors)
    assert torch.autograd.gradcheck(torch.ops.authors.slope, (double(1.5, 2.5), double(0.5, 2)))
    assert torch.autograd.gradgradcheck(torch.ops.authors.slope, (double(1.5, 2.5), double(0.5, 2)))


def test_formulas_read_tensors_that_may_be_none(package: Any) -> None:
    weighted = torch.ops.authors.weighted
    assert torch.autograd.gradcheck(weighted, (double(1, 2), double(3, 4)), check_forward_ad=True)
    assert torch.autograd.gradcheck(weighted, (double(1, 2), None))


def test_gradients_of_lists(package: Any) -> None:
    """gradcheck leaves out the gradient of each result in turn, and of all."""
    ops = torch.ops.authors
    assert torch.autograd.gradcheck(lambda x: tuple(ops.multiples(x, 3)), double(1, 2))
    assert torch.autograd.gradcheck(lambda *xs: tuple(ops.products(xs[1:], xs[0])), [double(1, 2) for _ in range(3)])
    x = double(1, 2)
    ops.multiples(x, 3)[1].sum().backward()
    close(x.grad, torch.full_like(x, 2))
    compiled = torch.compile(lambda x: ops.multiples(x, 3)[2] * 2, backend="aot_eager", fullgraph=True)
    (found,) = torch.autograd.grad(compiled(x).sum(), x)
    close(found, torch.full_like(x, 6))


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "stamp": lambda ops, x: (ops.stamp(x, torch.ones_like(x), 2), x + 1)[1],
    "grow": lambda ops, x: ops.grow(x, torch.ones_like(x), twice=True) + x,
    "mark": lambda ops, x: (ops.mark(x, x + 1, r=x * 2), x + 1)[1],
    "maybe": lambda ops, x: ops.maybe(x, x * 2, mean=x + 1) + x,
    "maybe_none": lambda ops, x: ops.maybe(None, x * 2, mean=x) + x,
    "caches": lambda ops, x: ops.caches(x * 2, keys=[x, x + 1], values=[None, x * 3]) + x,
    "fill_from": lambda ops, x: (ops.fill_from(x, torch.zeros_like(x)), x + 1)[1],
    "scale_into": lambda ops, x: ops.scale_into(x, 2.0) + x,
    "bang": lambda ops, x: (ops.bang(x, torch.ones_like(x)), x + 1)[1],
    "opt_into": lambda ops, x: (ops.opt_into(torch.ones_like(x), x), x + 1)[1],
    "lists": lambda ops, x: ops.lists([x], x + 1)[0] + x,
    "second": lambda ops, x: ops.second(torch.ones_like(x), x, 2) + x,
    "later_one": lambda ops, x: ops.later_one(torch.ones_like(x), x) + x,
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_are_compiled_and_exported(package: Any, name: str) -> None:
    def program(x: Any) -> Any:
        return WRITES[name](torch.ops.authors, x)

    torch._dynamo.reset()
    model = torch.nn.Module()
    model.forward = lambda x: program(x.clone())
    wanted = program(ones())
    close(torch.compile(program, backend="aot_eager", fullgraph=True)(ones()), wanted)
    close(torch.export.export(model, (ones(),)).run_decompositions({}).module()(ones()), wanted)


@pytest.mark.parametrize("name", ["scale_into", "lists", "grow", "caches"])
def test_what_returns_its_writes_is_functionalized(package: Any, name: str) -> None:
    def program(x: Any) -> Any:
        return WRITES[name](torch.ops.authors, x)

    close(torch.func.functionalize(program)(ones()), program(ones()))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fill_from", lambda: (torch.zeros(3), ones())),
        ("scale_into", lambda: (ones(), 2.0)),
        ("bang", lambda: (ones(), ones())),
        ("opt_into", lambda: (ones(), torch.zeros(3))),
        ("lists", lambda: ([torch.zeros(3)], ones())),
        ("stamp", lambda: (torch.zeros(3), ones())),
        ("grow", lambda: (torch.zeros(3), ones())),
        ("maybe", lambda: (torch.zeros(3), ones())),
        ("caches", lambda: (ones(), {"keys": [torch.zeros(3)], "values": [None, torch.zeros(3)]})),
        ("mark", lambda: (ones(), ones(), {"r": ones()})),
        ("count", lambda: (ones(), torch.zeros(3))),
        ("weighted", lambda: (ones().requires_grad_(), ones())),
        ("multiples", lambda: (ones().requires_grad_(), 2)),
        ("products", lambda: ([ones().requires_grad_(), ones()], ones().requires_grad_())),
        ("naming", lambda: (*[ones() for _ in "a"], 3, ones(), ones(), 4, ones(), ones(), ones(), 5, ones())),
    ],
)
def test_opcheck_passes(package: Any, name: str, arguments: Callable[[], tuple[Any, ...]]) -> None:
    given = arguments()
    named = given[-1] if isinstance(given[-1], dict) else {}
    torch.library.opcheck(getattr(torch.ops.authors, name), given[: len(given) - bool(named)], named)


RETURNED: dict[str, tuple[tuple[Any, ...], Callable[[Any], list[Any]]]] = {
    "second": (("x", "y", 2), lambda result: [result]),
    "later_one": (("x", "y"), lambda result: [result]),
    "beside": (("x", "y"), lambda result: [result[1]]),
    "crossed": (("x", "y"), list),
}
"""Operators, with what each is given and which of its results are tensors that it was given."""


@pytest.mark.parametrize(
    ("name", "returned"), [("second", "y"), ("later_one", "y"), ("beside", "x"), ("crossed", "yx")]
)
def test_what_is_written_is_returned_whoever_calls(package: Any, name: str, returned: str) -> None:
    """So in C++ too when a kernel of Python stands between: torch's boxed calls return the first or last argument."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Passing(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    given, chosen = RETURNED[name]
    found = []
    for passing in (False, True):
        tensors = {"x": ones(), "y": ones() * 3}
        arguments = [tensors.get(each, each) for each in given]
        with Passing() if passing else contextlib.nullcontext():
            result = getattr(package, name)(*arguments)
        assert [id(each) for each in chosen(result)] == [id(tensors[each]) for each in returned]
        found.append((result, tensors["x"], tensors["y"]))
    close(found[0], found[1])


def test_rules_for_vmap_of_any_operator(package: Any) -> None:
    """What a rule writes to is returned as it was given; lists of optional tensors reach it as they are."""
    x, y = torch.zeros(2, 3), torch.ones(2, 3)
    torch.func.vmap(torch.ops.authors.crossed)(x, y)
    close(x, torch.ones(2, 3))
    close(y, torch.full((2, 3), 2.0))
    close(torch.func.vmap(lambda x: torch.ops.authors.chosen(x, [None, x]))(y), y * 10)


def test_writes_count_and_raise_autograds_errors(package: Any) -> None:
    ops, x = torch.ops.authors, torch.zeros(3)
    ops.opt_into(ones(), x)
    ops.fill_from(x, ones())
    assert x._version == 2
    a = ones().requires_grad_()
    b = a * 1
    c = b * b
    with torch.no_grad():
        ops.opt_into(ones(), b)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        c.sum().backward()
