"""What the autograd generator writes is C++: a sample of each family goes through the compiler's front end.

The generated folder stands where torch's build has it, in front of torch's installed headers and beside Python's.
Sources of a kind are read together, so that the compiler reads those headers once.
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
from tests.compilers import together
from tests.conformance.runs import run_command
from tests.sharing import Share
from tests.unit.tiny_programs import options_of

__all__ = ["compiler"]

GENERATED: Final = "torch/csrc/autograd/generated"
# Not the kernels, which take longest: test_compile_packaged has those of other definitions.
SOURCES: Final = (
    ("Functions.cpp", "TraceType_3.cpp", "ViewFuncs.cpp"),
    *[("python_functions_0.cpp", "python_fft_functions.cpp", "python_return_types.cpp", "python_enum_tag.cpp")],
)
"""Those that are one for the compiler, which reads torch's headers once."""
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


@pytest.mark.parametrize("sources", SOURCES, ids=["engine", "bindings"])
def test_sources(sources: tuple[str, ...], autograd_tree: Path, compiler: Compiler, tmp_path: Path) -> None:
    for source in together([autograd_tree / GENERATED / name for name in sources], tmp_path / "whole"):
        compiler.check(source, autograd_tree, PYTHON)
