"""Operators that return several named values → the named tuples that Python gets.

`python_return_types.h` declares a function for each that gives its type object, and
`python_return_types.cpp` defines them and registers the types as members of `torch.return_types`.

    PyTypeObject* get_max_structseq() {
      static PyStructSequence_Field NamedTuple_fields[] = { {"values", ""}, {"indices", ""}, {nullptr} };
      …
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.dest.python_methods import Structseq, structseqs_of
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.python_program import PythonProgram


def emit_python_return_types(program: PythonProgram, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yields `python_return_types.cpp` and `python_return_types.h`."""
    found = list(structseqs(program))
    source = {
        "py_return_types": [_definition(structseq, suffix) for structseq, suffix in found],
        "py_return_types_registrations": [_registration(structseq) for structseq, _ in found],
    }
    header = {"py_return_types_declarations": [f"PyTypeObject* {_getter(structseq)}();" for structseq, _ in found]}
    yield OutputFile("python_return_types.cpp", templates.render("python_return_types.cpp", source))
    yield OutputFile("python_return_types.h", templates.render("python_return_types.h", header))


def structseqs(program: PythonProgram) -> Iterator[tuple[Structseq, str]]:
    """Every named tuple, by the names of the functions, and what tells it from others of that function."""
    by_name: dict[str, list[NativeFunction]] = {}
    for function in program.bound:
        by_name.setdefault(str(function.func.name.name), []).append(function)
    for _, functions in sorted(by_name.items()):
        yield from structseqs_of(functions).items()


def _getter(structseq: Structseq) -> str:
    return f"get_{structseq.name}_structseq"


def _registration(structseq: Structseq) -> str:
    return f'addReturnType(return_types_module, "{structseq.name}", generated::{_getter(structseq)}());'


def _definition(structseq: Structseq, suffix: str) -> str:
    type_object = f"{structseq.name}NamedTuple{suffix}"
    fields = " ".join([f'{{"{field}", ""}},' for field in structseq.fields])
    count = len(structseq.fields)
    return (
        f"PyTypeObject* {_getter(structseq)}() {{\n"
        f"  static PyStructSequence_Field NamedTuple_fields[] = {{ {fields} {{nullptr}} }};\n"
        f"  static PyTypeObject {type_object};\n"
        "  static bool is_initialized = false;\n"
        "  static PyStructSequence_Desc desc = "
        f'{{ "torch.return_types.{structseq.name}", nullptr, NamedTuple_fields, {count} }};\n'
        "  if (!is_initialized) {\n"
        f"    PyStructSequence_InitType(&{type_object}, &desc);\n"
        f"    {type_object}.tp_repr = (reprfunc)torch::utils::returned_structseq_repr;\n"
        "    is_initialized = true;\n"
        "  }\n"
        f"  return &{type_object};\n"
        "}\n"
    )
