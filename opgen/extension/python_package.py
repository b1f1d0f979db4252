"""An extension's operators → its Python package, but for the module `_C` that is compiled.

`__init__.py` imports the functions from `_C`, `_C.pyi` declares them for type checkers, `return_types` has the named
tuples, `_compiling` supports `torch.compile`, and `py.typed` marks the package as typed.

    from ._C import (
        blend as blend,
        blend_ as blend_,
    )
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.api.python import structseq_fieldnames
from opgen.api.python_parser import STUB_IMPORTS
from opgen.api.python_stubs import structseq_class
from opgen.dest.stubs import render_stubs, stub_definitions
from opgen.extension.extension import Extension
from opgen.frozen_dataclass import dataclass
from opgen.model import Return
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram

FOLDER: Final = "python"
"""The folder of packages in the install directory."""
RETURN_TYPES: Final = "return_types"
"""The module of the package with the named tuples."""


def emit_python_package(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield the files below `python/`, if the extension has a Python package."""
    python = extension.python
    if python is None:
        return
    names = sorted(function.name for function in python.functions)
    returns = named_returns(python)
    env = {**extension.environment(), "return_types": sorted(returns)}
    exported = sorted([*names, *([RETURN_TYPES] if returns else [])])

    def file(path: str, **more: object) -> OutputFile:
        text = templates.render(f"{FOLDER}/{path}.in", {**env, **more})
        return OutputFile(f"{FOLDER}/{extension.package}/{path}", text)

    shapes = extension.shape_functions
    registered = [_ShapeFunction(*names) for names in shapes.functions] if shapes else []
    yield file("__init__.py", names=names, exported=exported, shape_functions=registered)
    if shapes:
        yield file("_meta.py", text=shapes.text)
    yield file("_compiling.py")
    yield file("_C.pyi", imports=STUB_IMPORTS, functions=_stubs(python))
    if returns:
        yield file("return_types.py", names=sorted(returns))
        yield file("return_types.pyi", classes=[structseq_class(name, returns[name]) for name in sorted(returns)])
    yield OutputFile(f"{FOLDER}/{extension.package}/py.typed", "")


@dataclass(frozen=True, slots=True)
class _ShapeFunction:
    """The template values of a shape function in Python."""

    name: str
    operator: str


def _stubs(python: PythonProgram) -> list[str]:
    functions = sorted(python.functions, key=lambda function: function.name)
    return [render_stubs(stub_definitions(function.overloads, RETURN_TYPES), "") for function in functions]


def named_returns(python: PythonProgram) -> dict[str, tuple[Return, ...]]:
    """Return the fields of named tuples, by the names of the functions that return them."""
    found: dict[str, tuple[Return, ...]] = {}
    for function in python.bound:
        if structseq_fieldnames(function.func.returns):
            found.setdefault(str(function.func.name.name), function.func.returns)
    return found
