"""An extension's operators → the sources and the Python package of a kernel for Hugging Face's kernel-builder.

kernel-builder compiles the sources in `build.toml`, and adds `registration.h` and the module `_ops`. Each build gets
a unique namespace, so that several builds can be loaded at once.

    Register.cpp                    →  torch_binding.cpp
    mylib/Kernels.h                 →  include/mylib/Kernels.h
    python/mylib/_functions.py      →  mylib/_functions.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

from opgen.extension.extension import Extension
from opgen.extension.python_package import FOLDER as PYTHON_FOLDER
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.stable.kernels import REGISTRATIONS, emit_kernel_header, emit_registrations
from opgen.stable.python_package import emit_python_package

FOLDER: Final = "torch-ext"
"""The folder of a project where kernel-builder looks for the package."""
BINDING: Final = "torch_binding.cpp"
"""The name of the source with the schemas in its projects."""
_UNUSED: Final = frozenset({"_C.pyi", "py.typed"})
"""Files of a package that kernel-builder doesn't copy, or generates."""


def emit_kernel(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the files below `torch-ext/`."""
    for emit in (emit_kernel_header, emit_registrations, emit_python_package):
        for file in emit(extension, templates):
            path = PurePosixPath(file.path)
            if path.name not in _UNUSED:
                yield OutputFile(str(_place(path)), file.text, file.root, file.group)


def _place(path: PurePosixPath) -> PurePosixPath:
    if path.name == REGISTRATIONS:
        return path.with_name(BINDING)
    if path.parts[0] == PYTHON_FOLDER:
        return path.relative_to(PYTHON_FOLDER)
    return PurePosixPath("include", path) if path.suffix == ".h" else path


def kernel_name(library: str) -> str | None:
    """Return the kernel-builder name of a library; None if there is none, since its names must be lower case."""
    is_legal = len(library) > 1 and library == library.lower()
    return library.replace("_", "-") if is_legal else None
