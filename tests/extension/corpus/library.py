"""Writes the corpus out as a project: definitions, and kernels whose declarations opgen's own signatures give.

python -m tests.extension.corpus.library FOLDER [EVERY]     every shape, or each EVERYth of them
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from opgen.commands._extension import load_extension
from opgen.diagnostics import Diagnostics
from opgen.extension.extension import Extension, ExtensionOptions
from opgen.model import NativeFunction
from tests.extension.corpus.shapes import Shape, shapes

NAMESPACE: Final = "corpus"
_CMAKE: Final = """\
cmake_minimum_required(VERSION 3.18)
project(corpus LANGUAGES CXX)
find_package(opgen CONFIG REQUIRED)
opgen_extension(corpus DEFINITIONS ops SOURCES {sources} INCLUDE_DIRECTORIES "${{CMAKE_CURRENT_SOURCE_DIR}}/src")
"""
_HEADER: Final = Path(__file__).with_name("corpus_kernels.h")
_PER_SOURCE: Final = 100


def chosen(every: int) -> tuple[Shape, ...]:
    """Each `every`th shape of the corpus."""
    return shapes()[::every]


def write_project(folder: Path, every: int) -> tuple[Shape, ...]:
    """Write the project into `folder`, and return the shapes that it has."""
    wanted = chosen(every)
    definitions = folder / "ops" / "native" / "native_functions.yaml"
    definitions.parent.mkdir(parents=True, exist_ok=True)
    definitions.write_text("".join(map(_entry, wanted)))
    log = Diagnostics()
    extension = load_extension(folder / "ops", ExtensionOptions(), log, with_python=False)
    assert extension is not None, log.render()
    functions = extension.program.functions
    parts = [functions[at : at + _PER_SOURCE] for at in range(0, len(functions), _PER_SOURCE)]
    source = folder / "src"
    source.mkdir(exist_ok=True)
    (source / "corpus_kernels.h").write_text(_HEADER.read_text())
    for number, part in enumerate(parts):
        (source / f"kernels_{number}.cpp").write_text(_source(extension, part))
    sources = " ".join(f"src/kernels_{number}.cpp" for number in range(len(parts)))
    (folder / "CMakeLists.txt").write_text(_CMAKE.format(sources=sources))
    return wanted


def _entry(shape: Shape) -> str:
    return f"- func: {NAMESPACE}::{shape.name}{shape.schema}\n  dispatch:\n    CPU, Meta: {shape.name}\n"


def _source(extension: Extension, functions: Sequence[NativeFunction]) -> str:
    bodies = "\n".join(_kernel(extension, function) for function in functions)
    return (
        '#include "corpus_kernels.h"\n#include <corpus/NativeFunctions.h>\n\n'
        f"namespace corpus::native {{\n\n{bodies}\n}} // namespace corpus::native\n"
    )


def _kernel(extension: Extension, function: NativeFunction) -> str:
    signature = extension.signatures(function).native
    name = str(function.func.name)
    given = ", ".join(binding.name for binding in signature.arguments)
    call = f'return ::corpus_test::answer<{signature.returns}>("{name}", {given});'
    return f"{signature.defn(name)} {{\n  {call}\n}}\n"


if __name__ == "__main__":
    write_project(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1)
