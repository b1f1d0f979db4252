"""What the autograd generator writes is C++: a sample of each family goes through the compiler's front end.

The generated folder stands where torch's build has it, in front of torch's installed headers and beside Python's.
Sources are read over a precompiled header of what those headers declare.
"""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from opgen.dest.view_meta import emit_functional_inverses
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.output.template import TemplateSet
from tests.compile.test_compile import Compiler, compiler
from tests.conformance.runs import run_command
from tests.sharing import Share
from tests.unit.tiny_programs import options_of

__all__ = ["compiler"]

GENERATED: Final = "torch/csrc/autograd/generated"
# Not the kernels, which take longest: test_compile_packaged has those of other definitions. The slowest first, so that
# parallel workers end together.
SOURCES: Final = (
    "Functions.cpp",
    "python_functions_0.cpp",
    "TraceType_3.cpp",
    "python_fft_functions.cpp",
    "python_return_types.cpp",
    "ViewFuncs.cpp",
    "python_enum_tag.cpp",
)
COMMON: Final = (
    "torch/csrc/utils/pybind.h",
    "torch/csrc/utils/python_arg_parser.h",
    "torch/csrc/autograd/FunctionsManual.h",
    "torch/csrc/autograd/VariableTypeUtils.h",
    "torch/csrc/autograd/python_cpp_function.h",
    "torch/csrc/autograd/python_variable.h",
    "torch/csrc/jit/frontend/tracer.h",
    "torch/library.h",
)
PYTHON: Final = f"-I{sysconfig.get_path('include')}"


@pytest.fixture(scope="session")
def autograd_tree(torch_source: Path, share: Share) -> Path:
    """All that the generators of autograd and of the bindings write, where torch's sources include it from."""
    return share.folder("autograd", lambda root: _generate(torch_source, root))


def _generate(torch_source: Path, root: Path) -> None:
    native, autograd = torch_source / "native", torch_source.parent / "autograd"
    inputs = native / "native_functions.yaml", native / "tags.yaml"
    (root / GENERATED).mkdir(parents=True)
    paths = map(str, (*inputs, root / GENERATED, autograd))
    run = run_command([sys.executable, "-m", "opgen.gen_autograd", "--bindings", *paths], root)
    if run.code != 0:
        pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)
    # One of ATen's own generated headers, which torch doesn't install.
    log = Diagnostics()
    program = load_program(*inputs, log)
    assert program is not None, log.render()
    (root / "ATen").mkdir()
    for file in emit_functional_inverses(program, options_of(), TemplateSet(torch_source / "templates")):
        (root / "ATen" / file.path).write_text(file.text, encoding="utf-8")


@pytest.fixture(scope="session")
def precompiled(compiler: Compiler, autograd_tree: Path, share: Share) -> tuple[str, ...]:
    """Flags for the sources."""
    folder = share.folder(
        "precompiled-autograd", lambda folder: compiler.precompile(COMMON, folder, autograd_tree, PYTHON)
    )
    return (PYTHON, "-include", str(folder / "common.h"))


@pytest.mark.parametrize("source", SOURCES)
def test_source(source: str, autograd_tree: Path, compiler: Compiler, precompiled: tuple[str, ...]) -> None:
    compiler.check(autograd_tree / GENERATED / source, autograd_tree, *precompiled)
