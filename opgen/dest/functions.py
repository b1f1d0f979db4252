"""Turns operators into the functions that C++ programs call, `at::add`.

`Functions.h` has all of them, or includes one header an operator, `ops/add.h`.  Each is an inline
call of the operator; one whose schema has a `SymInt` exists for plain integers and, under a name
with `_symint`, for `c10::SymInt`, and namespace `at::symint` has both under one name.
`RedispatchFunctions.h` has the same functions with a key set to go on with as first parameter.

    inline at::Tensor add(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha=1) {
      return at::_ops::add_Tensor::call(self, other, alpha);
    }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opgen.api.cpp import CppSignature
from opgen.dest.includes import by_root_name, ops_include
from opgen.dest.operator_call import operator_call, operator_redispatch
from opgen.dest.static_dispatch import static_backends, static_ops_includes
from opgen.model import NativeFunction, Variant
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program import Options, Program


def emit_function_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yields `Functions.h`, `RedispatchFunctions.h` and the `ops/….h`."""
    if options.per_operator_headers:
        yield from _emit_per_operator(program, options, templates)
    else:
        declared = _definitions(program, program.functions)
        yield _render_functions(templates, ["#include <ATen/Operators.h>"], declared)
    redispatching = [text for f in program.functions for text in _redispatch_definitions(program, f)]
    env = {"function_redispatch_definitions": redispatching}
    yield OutputFile("RedispatchFunctions.h", templates.render("RedispatchFunctions.h", env))


def emit_function_sources(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yields `Functions.cpp`, which is about tensors of existing memory and the same for all operators."""
    del program, options
    yield OutputFile("Functions.cpp", templates.render("Functions.cpp"))


def _emit_per_operator(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """A header for each operator, and the one that includes them."""
    backends = static_backends(program, options)
    operators = by_root_name(program.functions)
    for root_name, functions in operators.items():
        env = {
            "static_dispatch_ops_headers": [line for f in functions for line in static_ops_includes(f, backends)],
            "operator_includes": ops_include(root_name, "_ops"),
            "function_definitions": _definitions(program, functions),
        }
        yield OutputFile(f"ops/{root_name}.h", templates.render("Function.h", env), group="ops_")
    yield _render_functions(templates, [ops_include(name) for name in sorted(operators)], [])


def _render_functions(templates: TemplateSet, includes: list[str], declarations: list[str]) -> OutputFile:
    env = {"Functions_includes": includes, "Functions_declarations": declarations}
    return OutputFile("Functions.h", templates.render("Functions.h", env))


def _definitions(program: Program, functions: Iterable[NativeFunction]) -> list[str]:
    return [text for function in functions for text in _function_definitions(program, function)]


def _function_definitions(program: Program, function: NativeFunction) -> Iterator[str]:
    """The C++ functions that call one operator."""
    signatures = program.signatures(function)
    is_function = Variant.function in function.variants
    if not (is_function or signatures.has_symint):
        return
    comment = f"\n// {function.namespace}::{function.func}\n"
    for signature in signatures.cpp.signatures():
        call = operator_call(signature, signatures.dispatcher)
        if is_function:
            yield f"{comment}inline {signature.decl()} {{\n  return {call};\n}}\n"
        if signatures.has_symint:
            yield _symint_definition(signature, call)


def _symint_definition(signature: CppSignature, call: str) -> str:
    """A function that a template can call under one name for both kinds of integers."""
    integer = "c10::SymInt" if signature.symint else "int64_t"
    return f"""
namespace symint {{
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, {integer}>>>
  {signature.decl(suppress_symint_suffix=True)} {{
    return {call};
  }}
}}
"""


def _redispatch_definitions(program: Program, function: NativeFunction) -> Iterator[str]:
    """The C++ functions that go on with one operator, behind the key that they were called for."""
    signatures = program.signatures(function)
    comment = f"\n// {function.namespace}::{function.func}\n"
    for signature in signatures.cpp.signatures():
        call = operator_redispatch(signature, signatures.dispatcher)
        yield f"{comment}inline {signature.decl(is_redispatching_fn=True)} {{\n  return {call};\n}}\n"
