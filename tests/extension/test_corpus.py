"""Operators of every shape, built as one library and called: what goes in comes back, what is written has grown.

The suite builds each fifth shape; `OPGEN_CORPUS=1` builds all of them.
"""

from __future__ import annotations

import importlib
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tests.extension.building import Built, build_once, require_tools  # noqa: E402
from tests.extension.corpus.library import write_project  # noqa: E402
from tests.extension.corpus.shapes import Shape, shapes  # noqa: E402

EVERY = int(os.environ.get("OPGEN_CORPUS", "5"))
SHAPES = shapes()[::EVERY]


@pytest.fixture(scope="module")
def corpus(builds: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The library, built and loaded."""
    require_tools("ninja")
    source = tmp_path_factory.mktemp("corpus") / "corpus"
    write_project(source, EVERY)
    built = build_once("corpus", source, builds, is_quick=True)
    torch.ops.load_library(os.fspath(built.library("corpus")))
    return built


@pytest.fixture(scope="module")
def package(corpus: Built) -> Any:
    """The Python package."""
    sys.path.insert(0, os.fspath(corpus.python))
    try:
        return importlib.import_module("corpus")
    finally:
        sys.path.remove(os.fspath(corpus.python))


def test_the_corpus_is_large() -> None:
    assert len(shapes()) >= 400


def same(one: Any, other: Any) -> bool:
    """Whether a result is what was wanted: numbers may be others of the same value, lists may be tuples."""
    if isinstance(other, torch.Tensor):
        return isinstance(one, torch.Tensor) and torch.equal(one, other)
    if isinstance(other, dict):
        return isinstance(one, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in other)
    if isinstance(other, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(other, (torch.dtype, torch.memory_format, torch.layout)):
        return one == other or isinstance(one, int)  # as torch gives those back
    return bool(one == other) and (one is None) == (other is None)


def fresh(value: Any) -> Any:
    """The same value with tensors of its own."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [fresh(each) for each in value] if isinstance(value, list) else value


def tensors(value: Any) -> Sequence[Any]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for each in value for t in tensors(each)] if isinstance(value, list) else []


def check(shape: Shape, function: Any) -> None:
    """Call an operator, and look at what it returns and writes."""
    args, kwargs = tuple(map(fresh, shape.args)), {name: fresh(value) for name, value in shape.kwargs.items()}
    given = [t for value in (*args, *kwargs.values()) for t in tensors(value)]
    before, versions = [t.clone() for t in given], [t._version for t in given]
    result = function(*args, **kwargs)
    assert same(result, shape.result), f"{shape.schema}: {result!r}"
    if shape.written:
        grown = [not torch.equal(t, old) for t, old in zip(given, before, strict=True)]
        assert sum(grown) == len(given) - 1, shape.schema
        assert [t._version > v for t, v in zip(given, versions, strict=True)] == grown, shape.schema


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_through_the_dispatcher(corpus: Built, shape: Shape) -> None:
    check(shape, getattr(torch.ops.corpus, shape.name))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_through_the_package(package: Any, shape: Shape) -> None:
    """An operator is in the package, or Python's argument parser can't handle it; then it is in `torch.ops` alone."""
    function = getattr(package, shape.name, None)
    if "Tensor?[]" in shape.schema.rpartition(" -> ")[0]:
        return  # torch's parser takes no None within a list
    if function is None:
        assert any(mark in shape.schema for mark in UNBOUND), shape.schema
    else:
        check(shape, function)


UNBOUND = (
    "*, Tensor![] w) -> ()",  # an out form without a functional one
    "*, Tensor(a!)[] w) -> ()",
    *("Dict", "(int, Tensor)", "(str, float, bool)", "[][]", "complex", "Any", "str[]", "str?[]", "bool[]", "?[]"),
    *("Device", "MemoryFormat", "int[]", "SymInt[]", "ScalarType", "Layout", "Scalar", "float[]"),
)
"""What a schema has that the parser, or the package's results, have nothing for."""


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
def test_with_gradients(corpus: Built, shape: Shape) -> None:
    """A result of a tensor that needs a gradient says that there is no derivative."""
    if shape.written or shape.schema.rpartition("-> ")[2] not in ("Tensor", "Tensor[]", "Tensor?"):
        return
    args = (shape.args[0].clone().requires_grad_(), *map(fresh, shape.args[1:]))
    result = getattr(torch.ops.corpus, shape.name)(*args, **shape.kwargs)
    for tensor in tensors(result):
        assert tensor.grad_fn is not None
        with pytest.raises(RuntimeError, match="not implemented"):
            tensor.sum().backward()


COMPILED = [s for s in SHAPES if s.written][:6] + [s for s in SHAPES if s.schema.endswith("-> Tensor")][:4]


@pytest.mark.parametrize("shape", COMPILED, ids=lambda shape: shape.name)
def test_compiled(corpus: Built, shape: Shape) -> None:
    operator = getattr(torch.ops.corpus, shape.name)
    compiled = torch.compile(lambda *args, **kwargs: operator(*args, **kwargs), backend="aot_eager", fullgraph=True)
    args, kwargs = tuple(map(fresh, shape.args)), {name: fresh(value) for name, value in shape.kwargs.items()}
    eager_args, eager_kwargs = tuple(map(fresh, shape.args)), {n: fresh(v) for n, v in shape.kwargs.items()}
    if any(word in shape.schema.rpartition("-> ")[2] for word in ("int", "str")):
        return  # a graph has tensors alone for results
    assert same(compiled(*args, **kwargs), operator(*eager_args, **eager_kwargs))
    for one, other in zip((*args, *kwargs.values()), (*eager_args, *eager_kwargs.values()), strict=True):
        assert same(one, other)


def test_a_kernel_of_another_signature_fails_when_linked(corpus: Built, tmp_path: Path) -> None:
    """Without the object that has them, kernels are missing: the linker says which, with their arguments."""
    told = ["ninja", "-C", os.fspath(corpus.build), "-t", "commands", "-s", "libcorpus.so"]
    command = subprocess.run(told, capture_output=True, text=True, check=True).stdout.strip().splitlines()[-1]
    if "-z,defs" not in command:
        pytest.skip("only linkers of ELF check for undefined symbols")
    words = [word for word in shlex.split(command) if not word.endswith("kernels_0.cpp.o")]
    words = words[words.index("&&") + 1 :] if words[0] == ":" else words
    words = words[: words.index("&&")] if "&&" in words else words
    words[words.index("-o") + 1] = os.fspath(tmp_path / "libcorpus.so")
    done = subprocess.run(words, cwd=corpus.build, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "undefined reference to `corpus::native::echo_p_0(at::Tensor const&, at::Tensor const&)'" in done.stderr
