"""Operators → their entry points in `at::_ops`, which all calls use.

`Operators.h` and `MethodOperators.h` (for members of `Tensor`) declare them, or one header per operator,
`ops/add_ops.h`.  `Operators_0.cpp` and so on define them.  They call the dispatcher, or a backend's
functions in a build with static dispatch.

    struct TORCH_API add_Tensor {
      …
      static at::Tensor call(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha);
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from opgen.api.cpp import after_key_set
from opgen.api.types import render_defns, render_types
from opgen.dest.cpp_text import string_literal
from opgen.dest.includes import by_root_name, ops_include
from opgen.dest.origin import definition_place, origin_comment
from opgen.dest.static_dispatch import static_backends, static_call, static_includes
from opgen.model import BackendIndex, NativeFunction, Variant
from opgen.output.files import OutputFile, emit_sharded
from opgen.output.snippets import Snippets
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program

_SNIPPETS: Final = Snippets("operators.cpp")

_SHARDS: Final = 5


def emit_operator_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Operators.h`, `MethodOperators.h` and the `ops/…_ops.h`."""
    if options.per_operator_headers:
        yield from _emit_per_operator(program, options, templates)
        return
    methods = [f for f in program.functions if Variant.method in f.variants]
    others = [f for f in program.functions if Variant.method not in f.variants]
    declared = list(_declarations(program, methods, options))
    yield _render_list(templates, "MethodOperators", (), declared)
    declared = list(_declarations(program, others, options))
    yield _render_list(templates, "Operators", ("#include <ATen/MethodOperators.h>",), declared)


def emit_operator_sources(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Operators_0.cpp` to `Operators_4.cpp` and `OperatorsEverything.cpp`."""
    backends = static_backends(program, options)

    def render(function: NativeFunction) -> tuple[str, str]:
        return function.root_name, _definition(program, function, backends, options)

    yield from emit_sharded(
        templates,
        "Operators.cpp",
        {"static_dispatch_extra_headers": static_includes(backends)},
        map(render, program.functions),
        key=lambda part: part[0],
        item_env=lambda part: {"operator_headers": [ops_include(part[0])], "definitions": [part[1]]},
        shards=_SHARDS,
        sharded_keys=("operator_headers", "definitions"),
    )


def _emit_per_operator(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield a header for each operator, and the two that include them."""
    operators = by_root_name(program.functions)
    for root_name, functions in operators.items():
        env = {"declarations": list(_declarations(program, functions, options))}
        text = templates.render("Operator.h", env)
        yield OutputFile(f"ops/{root_name}_ops.h", text, group="ops_", operator=root_name)
    names = {function.root_name for function in program.functions}
    methods = {function.root_name for function in program.functions if Variant.method in function.variants}
    # Sorted by lines: `add_ops` comes before `add_relu_ops` in one order, after it in the other.
    yield _render_list(templates, "MethodOperators", sorted(ops_include(name, "_ops") for name in methods), ())
    yield _render_list(templates, "Operators", [ops_include(name, "_ops") for name in sorted(names)], ())


def _render_list(templates: TemplateSet, name: str, includes: Iterable[str], declarations: Iterable[str]) -> OutputFile:
    env = {f"{name}_includes": list(includes), f"{name}_declarations": list(declarations)}
    return OutputFile(f"{name}.h", templates.render(f"{name}.h", env))


def _declarations(program: Program, functions: Iterable[NativeFunction], options: Options) -> Iterator[str]:
    for function in functions:
        yield _declaration(program, function, options)


def _declaration(program: Program, function: NativeFunction, options: Options) -> str:
    """Return the class whose static members call the operator."""
    signatures = program.signatures(function)
    signature = signatures.dispatcher
    returns, parameters = signature.returns, render_defns(signature.arguments)
    operator = function.func.name
    return _SNIPPETS.render(
        "declaration",
        place=definition_place(function, options),
        name=operator.unambiguous_name(),
        returns=returns,
        types=render_types(signature.arguments),
        qualified_name=f"{function.namespace}::{operator.name}",
        overload_name=operator.overload_name,
        schema=string_literal(signatures.schema),
        parameters=parameters,
        redispatch_parameters=after_key_set(parameters),
    )


def _definition(
    program: Program, function: NativeFunction, backends: tuple[BackendIndex, ...], options: Options
) -> str:
    """Return the members of the class that `_declaration` declares."""
    signatures = program.signatures(function)
    signature = signatures.dispatcher
    parameters = render_defns(signature.arguments)
    call = static_call(function, signatures, backends) if backends else None
    return _SNIPPETS.render(
        "definition",
        comment=origin_comment(program, function, options),
        operator=function.func.name.unambiguous_name(),
        returns=signature.returns,
        parameters=parameters,
        static_call=f"  {call}\n" if call else "",
        redispatch_parameters=after_key_set(parameters),
        arguments=[binding.name for binding in signature.arguments],
    )
