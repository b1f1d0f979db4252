"""Operators → the functions that C++ programs call, `at::add`.

`Functions.h` has all of them, or includes one header per operator, `ops/add.h`.  Each is an inline call
of the operator.  If the schema has a `SymInt`, there is one for plain integers and, with the suffix
`_symint`, one for `c10::SymInt`; namespace `at::symint` has both under one name.
`RedispatchFunctions.h` has the same functions with the remaining key set as first parameter.

    inline at::Tensor add(const at::Tensor & self, const at::Tensor & other, const at::Scalar & alpha=1) {
      return at::_ops::add_Tensor::call(self, other, alpha);
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from opgen.api.cpp import CppSignature
from opgen.dest.includes import by_root_name, ops_include
from opgen.dest.operator_call import operator_arguments
from opgen.dest.origin import origin_comment
from opgen.dest.presence import Presence
from opgen.dest.static_dispatch import static_backends, static_ops_includes
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, Variant
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program


@dataclass(frozen=True, slots=True)
class _Operator:
    """An operator, and the values of the C++ functions that call it."""

    function: NativeFunction
    comment: str
    """A comment with its schema."""
    target: str
    """The class with its entry points, `at::_ops::add_Tensor`."""
    has_symint: bool
    callers: tuple[tuple[CppSignature, str], ...]
    """The functions, each with the arguments of its call."""

    @property
    def root_name(self) -> str:
        """The name that all forms and overloads share."""
        return self.function.root_name


def emit_function_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Functions.h`, `RedispatchFunctions.h` and the `ops/….h`."""
    operators = [_operator(program, function, options) for function in program.functions]
    by_name = {id(operator.function): operator for operator in operators}
    if options.per_operator_headers:
        yield from _emit_per_operator(program, options, templates, operators)
    else:
        yield _render_functions(program, templates, ["#include <ATen/Operators.h>"], _definitions(operators))
    redispatching = [text for function in program.functions for text in _redispatch_definitions(by_name[id(function)])]
    env = {"function_redispatch_definitions": redispatching}
    yield OutputFile("RedispatchFunctions.h", templates.render("RedispatchFunctions.h", env))


def emit_function_sources(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Functions.cpp`, which doesn't depend on operators."""
    del program, options
    yield OutputFile("Functions.cpp", templates.render("Functions.cpp"))


def _operator(program: Program, function: NativeFunction, options: Options) -> _Operator:
    signatures = program.signatures(function)
    return _Operator(
        function,
        origin_comment(program, function, options),
        f"at::_ops::{function.func.name.unambiguous_name()}",
        signatures.has_symint,
        tuple((s, operator_arguments(s, signatures.dispatcher)) for s in signatures.cpp.signatures()),
    )


def _emit_per_operator(
    program: Program, options: Options, templates: TemplateSet, operators: Sequence[_Operator]
) -> Iterator[OutputFile]:
    """Yield a header for each operator, and the one that includes them."""
    backends = static_backends(program, options)
    headers = by_root_name(operators)
    for root_name, declared in headers.items():
        env = {
            "static_dispatch_ops_headers": [
                line for operator in declared for line in static_ops_includes(operator.function, backends)
            ],
            "operator_includes": ops_include(root_name, "_ops"),
            "function_definitions": _definitions(declared),
        }
        yield OutputFile(f"ops/{root_name}.h", templates.render("Function.h", env), group="ops_", operator=root_name)
    names = {function.root_name for function in program.functions}
    yield _render_functions(program, templates, [ops_include(name) for name in sorted(names)], [])


def _render_functions(
    program: Program, templates: TemplateSet, includes: list[str], declarations: list[str]
) -> OutputFile:
    env = {
        "Functions_includes": includes,
        "Functions_declarations": declarations,
        "has_function": Presence.among(program, Variant.function),
    }
    return OutputFile("Functions.h", templates.render("Functions.h", env))


def _definitions(operators: Sequence[_Operator]) -> list[str]:
    return [text for operator in operators for text in _function_definitions(operator)]


def _function_definitions(operator: _Operator) -> Iterator[str]:
    """Yield the C++ functions that call one operator; for a method, only those of `symint`."""
    for signature, arguments in operator.callers:
        call = f"{operator.target}::call({arguments})"
        if Variant.function in operator.function.variants:
            yield f"\n{operator.comment}\ninline {signature.decl()} {{\n  return {call};\n}}\n"
        if operator.has_symint:
            yield _symint_definition(signature, call)


def _symint_definition(signature: CppSignature, call: str) -> str:
    """Return a function that a template can call under one name for both kinds of integers."""
    integer = "c10::SymInt" if signature.symint else "int64_t"
    return f"""
namespace symint {{
  template <typename T, typename = std::enable_if_t<std::is_same_v<T, {integer}>>>
  {signature.decl(suppress_symint_suffix=True)} {{
    return {call};
  }}
}}
"""


def _redispatch_definitions(operator: _Operator) -> Iterator[str]:
    """Yield the C++ functions that redispatch one operator."""
    for signature, arguments in operator.callers:
        head = f"inline {signature.decl(is_redispatching_fn=True)}"
        arguments = f"dispatchKeySet, {arguments}" if arguments else "dispatchKeySet"
        yield f"\n{operator.comment}\n{head} {{\n  return {operator.target}::redispatch({arguments});\n}}\n"
