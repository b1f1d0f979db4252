r"""The selected operators → `RegisterSchema.cpp`, which registers their schemas.

The template contains the block of torch's own library; other libraries get a block each.  Kernels are
registered in other files.

    TORCH_LIBRARY(mylib, m) {
      const std::vector<at::Tag> tags_0 = {at::Tag::core, at::Tag::pointwise};
      m.def("scale(Tensor self, float by=1.0) -> Tensor", tags_0);
    };
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

from opgen.dest.cpp_text import string_literal
from opgen.model import FRAGMENT_NAMESPACES, NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_TEMPLATE: Final = "RegisterSchema.cpp"
_TORCH_NAMESPACE: Final = "aten"

_Definition: TypeAlias = tuple[str, tuple[str, ...]]
"""An operator's schema, as a string of C++, and its tags."""


def emit_register_schema(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `RegisterSchema.cpp`."""

    def definition(function: NativeFunction) -> tuple[str, str, tuple[str, ...]]:
        is_wanted = options.force_schema_registration or program.selector.is_native_function_selected(function)
        schema = string_literal(program.signatures(function).schema) if is_wanted else ""
        return function.namespace, schema, tuple(sorted(function.tags & program.tags.keys()))

    libraries: dict[str, list[_Definition]] = {_TORCH_NAMESPACE: []}
    definitions = () if options.skip_dispatcher_op_registration else map(definition, program.functions)
    for namespace, schema, tags in definitions:
        selected = libraries.setdefault(namespace, [])
        if schema:
            selected.append((schema, tags))
    env = {
        "aten_schema_registrations": _render_definitions(libraries.pop(_TORCH_NAMESPACE)),
        "schema_registrations": [
            _render_library(name, _render_definitions(definitions)) for name, definitions in libraries.items()
        ],
    }
    yield OutputFile(_TEMPLATE, templates.render(_TEMPLATE, env))


def _render_definitions(definitions: Iterable[_Definition]) -> list[str]:
    """Return the statements that define operators in a library `m`; a set of tags is declared before its first use."""
    names: dict[tuple[str, ...], str] = {(): "{}"}
    lines: list[str] = []
    for schema, tags in definitions:
        if tags not in names:
            names[tags] = f"tags_{len(names) - 1}"
            values = ", ".join([f"at::Tag::{tag}" for tag in tags])
            lines.append(f"const std::vector<at::Tag> {names[tags]} = {{{values}}};")
        lines.append(f"m.def({schema}, {names[tags]});")
    return lines


def _render_library(name: str, definitions: Iterable[str]) -> str:
    """Return the block of a library that is not torch's; without registrations if none of its operators is selected."""
    macro = "TORCH_LIBRARY_FRAGMENT" if name in FRAGMENT_NAMESPACES else "TORCH_LIBRARY"
    statements = "".join([f"  {line}\n" for line in definitions])
    return f"{macro}({name}, m) {{\n{statements}}};"
