"""An extension's operators → `PythonBindings.cpp`, the functions of its Python package in C++.

They work like torch's own bindings (see `opgen.dest.python_methods`): torch's parser reads the arguments,
`__torch_function__` has precedence if an argument defines it, and the call releases the GIL.

The headers of torch's parser take ten seconds to compile.  `detail/Python.h` declares the parts that most functions
need; torch's headers are included only for functions with arguments or results of other types.  `PythonSupport.cpp`,
a source of the library, has the parts that need headers which the library's sources include anyway.

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
from opgen.extension.derivatives import NODE_KINDS, with_derivatives
from opgen.extension.documentation import render_doc
from opgen.extension.extension import Extension
from opgen.extension.includes import header, operator_headers, render_file
from opgen.frozen_dataclass import dataclass
from opgen.model import BaseTy, BaseType, ListType, OptionalType, Type
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram

BINDINGS_GROUP: Final = "python_"
"""The source list of the files that need Python's headers."""
PATH: Final = "PythonBindings.cpp"
_HEADER: Final = "detail/Python.h"
_SUPPORT: Final = "PythonSupport.cpp"

_RESULTS: Final = frozenset(
    {BaseTy.Tensor, BaseTy.int, BaseTy.float, BaseTy.bool, BaseTy.ScalarType, BaseTy.Layout, BaseTy.DeviceIndex}
)
"""The types of results that `PythonBindings.cpp` converts without torch's headers."""
_ELEMENTS: Final = frozenset({BaseTy.Tensor, BaseTy.int, BaseTy.SymInt, BaseTy.float})
"""The elements of lists that `detail/Python.h` reads."""
_ARGUMENTS: Final = frozenset(
    {
        *(_RESULTS | _ELEMENTS),
        *(BaseTy.Scalar, BaseTy.str, BaseTy.Device, BaseTy.MemoryFormat, BaseTy.Generator),
    }
)
"""The types of arguments that it reads."""
_INTEGERS: Final = frozenset({BaseTy.int, BaseTy.SymInt, BaseTy.DeviceIndex})
"""The types of numbers that torch.jit.trace records if they are passed as tensors, also in lists."""


@dataclass(frozen=True, slots=True)
class _ReturnType:
    """The template values of a named tuple."""

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
        unlock=f"::{extension.namespace}::detail::python::gil_scoped_release",
        spells_defaults=True,
    )
    found = sorted(python.functions, key=lambda function: function.name)
    has_nodes = bool(with_derivatives(extension))
    kinds = [header(extension, NODE_KINDS)] if has_nodes else []
    file = render_file(
        extension,
        templates,
        PATH,
        PATH,
        package=extension.package,
        includes=[*operator_headers(extension, ""), *kinds],
        has_nodes=has_nodes,
        needs_torch_headers=_needs_torch_headers(python),
        functions=[render_binding(f, module, extension.signatures, render_doc(f, python)) for f in found],
        return_types=[_return_type(extension, structseq, suffix) for structseq, suffix in return_types(python)],
    )
    yield OutputFile(file.path, file.text, file.root, BINDINGS_GROUP)
    yield render_file(extension, templates, _HEADER, _HEADER)


def emit_python_support(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `PythonSupport.cpp`, if the extension has a Python package."""
    if extension.python is not None:
        is_traced = any(map(_is_traced, _argument_types(extension.python)))
        yield render_file(extension, templates, _SUPPORT, _SUPPORT, is_traced=is_traced)


def _argument_types(python: PythonProgram) -> list[Type]:
    return [argument.type for function in python.bound for argument in function.func.arguments.flat_all]


def _is_traced(t: Type) -> bool:
    """Return whether torch.jit.trace records tensors passed for a type: integers and lists of numbers."""
    is_list = False
    while isinstance(t, OptionalType | ListType):
        is_list = is_list or isinstance(t, ListType)
        t = t.elem
    return isinstance(t, BaseType) and (t.name in _INTEGERS or (is_list and t.name is BaseTy.float))


def _needs_torch_headers(python: PythonProgram) -> bool:
    """Return whether a function has an argument or a result that only torch's own headers convert."""
    results = [result.type for function in python.bound for result in function.func.returns]
    return not (
        all(_is_plain(t, _ARGUMENTS, _ELEMENTS) for t in _argument_types(python))
        and all(_is_plain(t, _RESULTS, _RESULTS) for t in results)
    )


def _is_plain(t: Type, types: frozenset[BaseTy], elements: frozenset[BaseTy]) -> bool:
    """Return whether a type is one of `types`, or a list of `elements`; either may be optional."""
    if isinstance(t, OptionalType):
        return _is_plain(t.elem, types, elements)
    if isinstance(t, ListType):
        return isinstance(t.elem, BaseType) and t.elem.name in elements
    return isinstance(t, BaseType) and t.name in types


def return_types(python: PythonProgram) -> list[tuple[Structseq, str]]:
    """Return the named tuples that functions return; an out form returns that of the functional form."""
    return list(structseqs(python, is_out_apart=False))


def _return_type(extension: Extension, structseq: Structseq, suffix: str) -> _ReturnType:
    definition = structseq_definition(structseq, suffix, package=extension.package, repr=None)
    return _ReturnType(structseq.name, structseq_getter(structseq), definition)
