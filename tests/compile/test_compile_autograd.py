"""What the autograd generator writes is C++: one file of each family goes through the compiler's front end."""

from __future__ import annotations

import sysconfig
from pathlib import Path
from typing import Final

import pytest

from opgen.dest.python_nodes import emit_python_node_headers, emit_python_node_sources
from opgen.dest.view_meta import emit_functional_inverses
from opgen.diagnostics import Diagnostics
from opgen.gen_autograd import generate, load_autograd
from opgen.output.template import TemplateSet
from tests.compile.test_compile import Compiler, compiler  # noqa: F401  the fixture
from tests.unit.tiny_programs import options_of

GENERATED: Final = "torch/csrc/autograd/generated"
SOURCES: Final = ("Functions.cpp", "VariableType_5.cpp", "ADInplaceOrViewType_0.cpp", "python_functions_0.cpp")


@pytest.fixture(scope="session")
def autograd_tree(torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that the generator writes, where torch's sources include it from."""
    folder, log = torch_source.parent / "autograd", Diagnostics()
    native = torch_source / "native"
    program = load_autograd(native / "native_functions.yaml", native / "tags.yaml", folder / "derivatives.yaml", log)
    assert program is not None, log.render()
    templates = TemplateSet(folder / "templates")
    root = tmp_path_factory.mktemp("autograd")
    (root / GENERATED).mkdir(parents=True)
    bindings = (
        file for emit in (emit_python_node_headers, emit_python_node_sources) for file in emit(program, templates)
    )
    # One of ATen's own generated headers, which torch doesn't install.
    inverses = emit_functional_inverses(program.program, options_of(), TemplateSet(torch_source / "templates"))
    (root / "ATen").mkdir()
    for file in inverses:
        (root / "ATen" / file.path).write_text(file.text, encoding="utf-8")
    for file in (*generate(program, templates), *bindings):
        (root / GENERATED / file.path).write_text(file.text, encoding="utf-8")
    return root


@pytest.mark.parametrize("source", SOURCES)
def test_source(source: str, autograd_tree: Path, compiler: Compiler) -> None:  # noqa: F811
    compiler.check(autograd_tree / GENERATED / source, autograd_tree, f"-I{sysconfig.get_paths()['include']}")
