"""Operators → `test_generated_ops.cc`, a test of the static runtime's code for each of them.

A test runs a graph of one operator with the static runtime and with the interpreter.

    TEST(StaticRuntime, autogen_angle) {
      const std::string script = R"IR(
        graph(%self: Tensor):
            %bias: None = prim::Constant()
            %ret = aten::angle(%self)
    …
      auto self0 = at::rand({6,6,6});
      std::vector<IValue> args{self0};
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import indent
from types import MappingProxyType
from typing import Final

from opgen.dest.static_runtime_names import NOT_RESIZED
from opgen.dest.static_runtime_operators import Group, by_operator, join_statements, qualified_name, schema_of
from opgen.dest.static_runtime_samples import samples
from opgen.model import BaseTy, BaseType, FunctionSchema, NativeFunctionsViewGroup, OptionalType, Type
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program

NAME: Final = "test_generated_ops.cc"

_GRAPH_TYPES: Final[Mapping[BaseTy, str]] = MappingProxyType({BaseTy.Scalar: "int", BaseTy.ScalarType: "int"})
"""Names of types in graphs that differ from those in schemas."""


def emit_static_runtime_tests(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `test_generated_ops.cc`."""
    out = [_render_test(group) for groups in by_operator(program, program.groups).values() for group in groups]
    views = [_render_test(group) for groups in by_operator(program, program.view_groups).values() for group in groups]
    yield OutputFile(NAME, templates.render(NAME, {"tests": [*out, *views]}))


def _render_test(group: Group) -> str:
    schema = schema_of(group)
    names = [argument.name for argument in schema.schema_order_arguments()]
    parameters = ", ".join(f"%{a.name}: {_graph_type(a.type)}" for a in schema.schema_order_arguments())
    library = qualified_name(group).partition("::")[0]
    prefix = "" if library == "aten" else f"{library}_"
    lines = [
        f"TEST(StaticRuntime, autogen_{prefix}{schema.name.unambiguous_name()}) {{",
        '  const std::string script = R"IR(',
        f"    graph({parameters}):",
        "        %bias: None = prim::Constant()",
        f"        %ret = {qualified_name(group)}({', '.join(f'%{name}' for name in names)})",
        "        %cloned = aten::clone(%ret, %bias)",
        "        return (%cloned)",
        '  )IR";',
        *_render_inputs(schema, 0, "args"),
        *_render_calls(group, schema),
        "}\n",
    ]
    return "\n".join(lines)


def _render_calls(group: Group, schema: FunctionSchema) -> Iterator[str]:
    if isinstance(group, NativeFunctionsViewGroup):
        # A view has no memory of its own that could be too small in a second run.
        yield "  testStaticRuntime(script, args);"
        return
    resized = "false" if str(schema.name) in NOT_RESIZED else "true"
    flags = f"/*use_allclose=*/false, /*use_equalnan=*/false, /*check_resize=*/{resized}"
    yield f"  testStaticRuntime(script, args, {{}}, {flags});"
    yield from _render_inputs(schema, 1, "args2")
    yield f"  testStaticRuntime(script, args, args2, {flags});"


def _render_inputs(schema: FunctionSchema, time: int, variable: str) -> Iterator[str]:
    """Yield the inputs of one run, and the list of them."""
    yield indent(join_statements(f"auto {name}{time} = {value}" for name, value in samples(schema, time)), "  ")
    names = ", ".join(f"{argument.name}{time}" for argument in schema.schema_order_arguments())
    yield f"  std::vector<IValue> {variable}{{{names}}};"


def _graph_type(type: Type) -> str:
    if isinstance(type, OptionalType):
        return f"{_graph_type(type.elem)}?"
    assert isinstance(type, BaseType)
    return _GRAPH_TYPES.get(type.name, str(type))
