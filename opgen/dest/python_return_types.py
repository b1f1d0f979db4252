"""Operators that return several named values → named tuples in Python.

`python_return_types.h` declares a function for each that gives its type object, and
`python_return_types.cpp` defines them and registers the types as members of `torch.return_types`.

    PyTypeObject* get_max_structseq() {
      static PyStructSequence_Field NamedTuple_fields[] = { {"values", ""}, {"indices", ""}, {nullptr} };
      …
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from opgen.dest.python_methods import Structseq, structseqs_of
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.python import PythonProgram


def emit_python_return_types(program: PythonProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `python_return_types.cpp` and `python_return_types.h`."""
    types = list(structseqs(program))
    source = {
        "py_return_types": [structseq_definition(structseq, suffix) for structseq, suffix in types],
        "py_return_types_registrations": [_registration(structseq) for structseq, _ in types],
    }
    header = {
        "py_return_types_declarations": [f"PyTypeObject* {structseq_getter(structseq)}();" for structseq, _ in types]
    }
    yield OutputFile("python_return_types.cpp", templates.render("python_return_types.cpp", source))
    yield OutputFile("python_return_types.h", templates.render("python_return_types.h", header))


def structseqs(program: PythonProgram, *, is_out_apart: bool = True) -> Iterator[tuple[Structseq, str]]:
    """Return every named tuple by function name, with a suffix if the function has several."""
    by_name: dict[str, list[NativeFunction]] = {}
    for function in program.bound:
        if len(function.func.returns) > 1:
            by_name.setdefault(function.func.name.name.text, []).append(function)
    for _, functions in sorted(by_name.items()):
        yield from structseqs_of(functions, is_out_apart=is_out_apart).items()


def structseq_getter(structseq: Structseq) -> str:
    """Return the C++ function that returns the type object of a named tuple."""
    return f"get_{structseq.name}_structseq"


def _registration(structseq: Structseq) -> str:
    return f'addReturnType(return_types_module, "{structseq.name}", generated::{structseq_getter(structseq)}());'


_REPR: Final = "(reprfunc)torch::utils::returned_structseq_repr"


def structseq_definition(structseq: Structseq, suffix: str, *, package: str = "torch", repr: str | None = _REPR) -> str:
    """Return that function's definition; the type is in `<package>.return_types`, and `repr` is its C++ `__repr__`."""
    type_object = f"{structseq.name}NamedTuple{suffix}"
    fields = " ".join([f'{{"{field}", ""}},' for field in structseq.fields])
    count = len(structseq.fields)
    shown = "" if repr is None else f"    {type_object}.tp_repr = {repr};\n"
    return (
        f"PyTypeObject* {structseq_getter(structseq)}() {{\n"
        f"  static PyStructSequence_Field NamedTuple_fields[] = {{ {fields} {{nullptr}} }};\n"
        f"  static PyTypeObject {type_object};\n"
        "  static bool is_initialized = false;\n"
        "  static PyStructSequence_Desc desc = "
        f'{{ "{package}.return_types.{structseq.name}", nullptr, NamedTuple_fields, {count} }};\n'
        "  if (!is_initialized) {\n"
        f"    PyStructSequence_InitType(&{type_object}, &desc);\n"
        f"{shown}"
        "    is_initialized = true;\n"
        "  }\n"
        f"  return &{type_object};\n"
        "}\n"
    )
