"""Unboxing kernels: a selection of them, built and loaded, does what the operators do."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.compile.test_compile import Compiler, compiler
from tests.compilers import QUICK
from tests.conformance.runs import run_command
from tests.sharing import Share

__all__ = ["compiler"]

HERE: Final = Path(__file__).resolve().parent
OPERATORS: Final = (
    "aten::_foreach_add.ScalarList",
    "aten::add.Tensor",
    "aten::add.out",
    "aten::avg_pool2d",
    "aten::cat",
    "aten::clamp",
    "aten::convolution_backward",
    "aten::einsum",
    "aten::empty.memory_format",
    "aten::frexp.Tensor",
    "aten::index.Tensor",
    "aten::index_put_",
    "aten::is_leaf",
    "aten::new_zeros",
    "aten::quantile.scalar",
    "aten::set_data",
    "aten::sum.dim_IntList",
    "aten::sym_size.int",
    "aten::unbind.int",
    "aten::upsample_bilinear2d.vec",
    "aten::var_mean.correction",
    "aten::where.ScalarSelf",
)
"""Between them they have every kind of argument and of result."""

CALLS: Final = """
import copy, json, sys
import torch

torch.ops.load_library(sys.argv[1])
check, aten = torch.ops.unboxing_check, torch.ops.aten
x, y = torch.arange(6.0).reshape(2, 3), torch.full((2, 3), 0.5)
image = torch.arange(16.0).reshape(1, 1, 4, 4)
where = torch.tensor([1, 0])
calls = {
    "aten::_foreach_add.ScalarList": ([x, y], [1.5, 2.5]),
    "aten::add.Tensor": (x, y, 2),
    "aten::add.out": (x, y, 3, torch.empty(2, 3)),
    "aten::avg_pool2d": (image, [2, 2], [1, 1], [0, 0], False, True, None),
    "aten::cat": ([x, y], 1),
    "aten::clamp": (x, None, 4),
    "aten::convolution_backward": (
        image, image, torch.ones(1, 1, 1, 1), [1], [1, 1], [0, 0], [1, 1], False, [0, 0], 1, [True, False, True]
    ),
    "aten::einsum": ("ij,kj->ik", [x, y], [0, 1]),
    "aten::frexp.Tensor": (x,),
    "aten::index.Tensor": (x, [where, where]),
    "aten::index_put_": (x.clone(), [where], y, True),
    "aten::is_leaf": (x,),
    "aten::new_zeros": (x, [2, 2], torch.int64, None, torch.device("cpu"), False),
    "aten::quantile.scalar": (x, 0.25, 1, True, "linear"),
    "aten::sum.dim_IntList": (x, [0], True, torch.float64),
    "aten::sym_size.int": (x, 1),
    "aten::unbind.int": (x, 1),
    "aten::upsample_bilinear2d.vec": (image, None, True, [2.0, 2.0]),
    "aten::var_mean.correction": (x, [1], 2, True),
    "aten::where.ScalarSelf": (x > 2, 7.5, x),
}

def plain(value):
    if isinstance(value, torch.Tensor):
        return [str(value.dtype), value.tolist()]
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value

def operator(name):
    base, _, overload = name.removeprefix("aten::").partition(".")
    return getattr(getattr(aten, base), overload or "default")

def expected(name, given):
    schema = operator(name)._schema
    keywords = {a.name: v for a, v in zip(schema.arguments, given) if a.kwarg_only}
    results = operator(name)(*given[: len(given) - len(keywords)], **keywords)
    return plain(results if len(schema.returns) > 1 else [results])

outcome = {
    name: [plain(check.call(name, copy.deepcopy(list(given)))), expected(name, given)] for name, given in calls.items()
}

target = torch.zeros(1)
assert check.call("aten::set_data", [target, x]) == []
outcome["aten::set_data"] = [plain(target), plain(x)]
# The interpreter has memory formats as numbers: 2 is channels_last.
empty = check.call("aten::empty.memory_format", [[2, 2, 2, 2], torch.float64, None, None, None, 2])[0]
is_last = empty.is_contiguous(memory_format=torch.channels_last)
outcome["aten::empty.memory_format"] = [[str(empty.dtype), list(empty.shape), is_last],
                                        ["torch.float64", [2, 2, 2, 2], True]]

described = {}
for name in outcome:
    schema = operator(name)._schema
    pairs = [[a.name, a.default_value if a.has_default_value() else "required"] for a in schema.arguments]
    described[name] = [plain(check.describe(name)), [item for pair in pairs for item in pair]]
print(json.dumps([outcome, described]))
"""


def _generate(out: Path, *flags: str) -> None:
    run = run_command([sys.executable, "-m", "opgen.gen_unboxing", "-d", str(out / "ATen"), *flags], out)
    if run.code != 0:
        pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)


@pytest.fixture(scope="module")
def outcome(compiler: Compiler, torch_source: Path, share: Share) -> tuple[dict[str, object], ...]:
    """For each call, its result and the expected one; the same for names and defaults of arguments."""
    folder = share.folder("unboxing", lambda folder: _build_and_call(compiler, torch_source, folder))
    answers = json.loads((folder / "answers.json").read_text(encoding="utf-8"))
    assert isinstance(answers, list)
    return tuple(answers)


def _build_and_call(compiler: Compiler, torch_source: Path, folder: Path) -> None:
    (folder / "operators.yaml").write_text("".join(f"- {name}\n" for name in OPERATORS), encoding="utf-8")
    listed = folder / "operators.yaml"
    shutil.copytree(torch_source / "native", folder / "ops/native")  # without templates: ours are used
    ops = str(folder / "ops")
    _generate(folder, "--source-path", ops, "--TEST-ONLY-op-registration-allowlist-yaml-path", str(listed))
    include = (folder, compiler.torch_include, compiler.torch_include / "torch" / "csrc" / "api" / "include")
    flags = ["-std=c++20", "-shared", "-fPIC", "-O0", "-w", QUICK, *(f"-I{place}" for place in include)]
    libraries = compiler.torch_include.parent / "lib"
    built = folder / "check.so"
    _run(compiler.program, *flags, HERE / "unboxing_check.cpp", "-o", built, f"-L{libraries}", "-ltorch_cpu", "-lc10")
    (folder / "answers.json").write_text(_run(sys.executable, "-c", CALLS, built), encoding="utf-8")


def _run(*command: object) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command[:1]))}\n{done.stdout[-2000:]}{done.stderr[-4000:]}", pytrace=False)
    return done.stdout


def test_kernels_do_what_operators_do(outcome: tuple[dict[str, list[object]], ...]) -> None:
    assert outcome[0].keys() == set(OPERATORS)
    assert {name: pair for name, pair in outcome[0].items() if pair[0] != pair[1]} == {}


def test_arguments_have_the_defaults_of_the_schema(outcome: tuple[dict[str, list[object]], ...]) -> None:
    assert {name: pair for name, pair in outcome[1].items() if pair[0] != pair[1]} == {}
