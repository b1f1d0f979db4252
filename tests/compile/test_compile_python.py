"""Bindings, tracing and view replay are C++: a sample of each goes through the compiler's front end.

The generated folder stands where torch's build has it, in front of torch's installed headers and beside Python's.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from tests.compile.test_compile import Compiler, compiler
from tests.conformance.runs import run_command

__all__ = ["compiler"]

GENERATED: Final = "torch/csrc/autograd/generated"
SOURCES: Final = (
    "TraceType_3.cpp",
    "python_fft_functions.cpp",
    "ViewFuncs.cpp",
    "python_return_types.cpp",
    "python_enum_tag.cpp",
)


@pytest.fixture(scope="module")
def tree(torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the generators of autograd and of the bindings write."""
    root = tmp_path_factory.mktemp("autograd")
    native, autograd = torch_source / "native", torch_source.parent / "autograd"
    paths = (native / "native_functions.yaml", native / "tags.yaml", root / GENERATED, autograd)
    (root / GENERATED).mkdir(parents=True)
    for module in ("opgen.gen_autograd", "opgen.gen_python"):
        run = run_command([sys.executable, "-m", module, *map(str, paths)], root)
        if run.code != 0:
            pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)
    return root


@pytest.mark.parametrize("name", SOURCES)
def test_source(name: str, compiler: Compiler, tree: Path) -> None:
    compiler.check(tree / GENERATED / name, tree, f"-I{sysconfig.get_path('include')}")
