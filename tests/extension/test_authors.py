"""Operators as authors register them by hand today: each kind builds, runs, and works with torch's compilers."""

from __future__ import annotations

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
    return build_once("authors", Path(__file__).with_name("authors"), builds)


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


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "fill_from": lambda ops, x: (ops.fill_from(x, torch.zeros_like(x)), x + 1)[1],
    "scale_into": lambda ops, x: ops.scale_into(x, 2.0) + x,
    "bang": lambda ops, x: (ops.bang(x, torch.ones_like(x)), x + 1)[1],
    "opt_into": lambda ops, x: (ops.opt_into(torch.ones_like(x), x), x + 1)[1],
    "lists": lambda ops, x: ops.lists([x], x + 1)[0] + x,
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_are_compiled_and_exported(package: Any, name: str) -> None:
    def program(x: Any) -> Any:
        return WRITES[name](torch.ops.authors, x)

    model = torch.nn.Module()
    model.forward = lambda x: program(x.clone())
    wanted = program(ones())
    close(torch.compile(program, backend="aot_eager", fullgraph=True)(ones()), wanted)
    close(torch.export.export(model, (ones(),)).run_decompositions({}).module()(ones()), wanted)


@pytest.mark.parametrize("name", ["scale_into", "lists"])
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
    ],
)
def test_opcheck_passes(package: Any, name: str, arguments: Callable[[], tuple[Any, ...]]) -> None:
    torch.library.opcheck(getattr(torch.ops.authors, name), arguments())


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
