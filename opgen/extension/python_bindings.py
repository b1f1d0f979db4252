"""An extension's operators → `PythonBindings.cpp`, the functions of its Python package in C++.

They are made as torch's own are (see `opgen.dest.python_methods`): torch's parser reads the arguments,
`__torch_function__` goes first if an argument has it, and the call lets go of Python's lock.

    static PyObject * python_blend(PyObject* self_, PyObject* args, PyObject* kwargs)
    {
      HANDLE_TH_ERRORS
      static PythonArgParser parser({
        "mylib.blend(Tensor input, Tensor other, *, Scalar weight=0.5, Tensor out=None)",
        …
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.dest.python_methods import PythonModule, Structseq, render_binding
from opgen.dest.python_return_types import structseq_definition, structseq_getter, structseqs
from opgen.extension.argument_names import parameter_name
from opgen.extension.documentation import render_doc
from opgen.extension.extension import Extension
from opgen.extension.includes import operator_headers, render_file
from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram

GROUP: Final = "python_"
"""The list of sources that need Python's headers."""
_PATH: Final = "PythonBindings.cpp"


@dataclass(frozen=True, slots=True)
class _ReturnType:
    """A named tuple, as the template calls its parts."""

    name: str
    getter: str
    definition: str


def emit_python_bindings(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `PythonBindings.cpp`, if the extension has a Python package."""
    python = extension.python
    if python is None:
        return
    module = PythonModule(
        name=extension.package,
        object="own_module",
        namespace=extension.namespace,
        prefix="python_",
        wrap="to_python",
        parameter_name=parameter_name,
    )
    found = sorted(python.functions, key=lambda function: function.name)
    file = render_file(
        extension,
        templates,
        _PATH,
        _PATH,
        package=extension.package,
        includes=operator_headers(extension, ""),
        functions=[render_binding(f, module, extension.signatures, render_doc(f, python)) for f in found],
        return_types=[_return_type(extension, structseq, suffix) for structseq, suffix in return_types(python)],
    )
    yield OutputFile(file.path, file.text, file.root, GROUP)


def return_types(python: PythonProgram) -> list[tuple[Structseq, str]]:
    """The named tuples that functions return; an out form returns the functional one's."""
    return list(structseqs(python, is_out_apart=False))


def _return_type(extension: Extension, structseq: Structseq, suffix: str) -> _ReturnType:
    definition = structseq_definition(structseq, suffix, package=extension.package, repr=None)
    return _ReturnType(structseq.name, structseq_getter(structseq), definition)
