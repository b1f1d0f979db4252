"""Operators → `generated_ops.cpp`, the static runtime's code for each of them.

The first run of a node allocates its output; later runs reuse it with the operator's out form.  Views are
recomputed in every run.

    REGISTER_OPERATOR_FUNCTOR(
        aten::angle,
        aten_angle,
        [](Node* n) -> SROperator {
          if (n->matches(torch::schema("aten::angle(Tensor self) -> Tensor"))) {
            return [](ProcessedNode* p_node) {
              const auto& self = p_node->Input(0).toTensor();
              …
              at::native::angle_out(self, out);
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import indent
from typing import Final

from opgen.dest.cpp_text import string_literal
from opgen.dest.static_runtime_operators import (
    Group,
    by_operator,
    join_statements,
    kernel_of,
    qualified_schema,
    render_inputs,
    schema_of,
)
from opgen.model import NativeFunctionsGroup, NativeFunctionsViewGroup
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program

NAME: Final = "generated_ops.cpp"


def emit_static_runtime(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `generated_ops.cpp`."""
    operators = [
        _render_operator(program, name, groups) for name, groups in by_operator(program, program.groups).items()
    ]
    views = [
        _render_operator(program, name, groups) for name, groups in by_operator(program, program.view_groups).items()
    ]
    yield OutputFile(NAME, templates.render(NAME, {"operators": [*operators, *views]}))


def _render_operator(program: Program, name: str, groups: Sequence[Group]) -> str:
    """Return the registration of all overloads of an operator."""
    overloads = "".join(_render_overload(program, group) for group in groups)
    is_view = isinstance(groups[0], NativeFunctionsViewGroup)
    macro, end = ("REGISTER_NATIVE_OPERATOR_FUNCTOR", ");") if is_view else ("REGISTER_OPERATOR_FUNCTOR", ")")
    return (
        f"{macro}(\n    {name},\n    {name.replace('::', '_')},\n    [](Node* n) -> SROperator {{\n"
        f"{overloads}      LogAndDumpSchema(n);\n      return nullptr;\n    }}{end}\n\n"
    )


def _render_overload(program: Program, group: Group) -> str:
    schema = schema_of(group)
    names = [argument.name for argument in schema.schema_order_arguments()]
    body = f"{join_statements(render_inputs(schema))}\n"
    if isinstance(group, NativeFunctionsViewGroup):
        body += f"p_node->Output(0) = {kernel_of(program, group.view)}({', '.join(names)});\n"
    else:
        body += _render_runs(program, group, names)
    return (
        f"      if (n->matches(torch::schema({string_literal(qualified_schema(group))}))) {{\n"
        f"        return [](ProcessedNode* p_node) {{\n{indent(body, ' ' * 10)}        }};\n      }}\n"
    )


def _render_runs(program: Program, group: NativeFunctionsGroup, names: Sequence[str]) -> str:
    """Return statements that allocate the result in the first run and reuse it in later ones."""
    out = group.out.func.arguments.out[0].name
    if group.structured:
        name = f"at::cpu::{group.functional.func.name.name}"
        first, later = f"{name}({', '.join(names)})", f"{name}_out({', '.join([out, *names])})"
    else:
        first = f"{kernel_of(program, group.functional)}({', '.join(names)})"
        later = f"{kernel_of(program, group.out)}({', '.join([*names, out])})"
    return (
        "if (p_node->Output(0).isNone()) {\n"
        f"  p_node->Output(0) = {first};\n"
        "  return;\n"
        "}\n"
        f"auto& {out} = p_node->Output(0).toTensor();\n"
        f"fastResizeToZero({out});\n"
        f"{later};\n"
    )
