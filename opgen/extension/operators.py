"""An extension's operators → their entry points (`mylib::_ops`) and functions (`mylib::blend`).

`ops/blend_ops.h` declares the entry points of an operator and `ops/blend.h` the functions that
C++ programs call, inline; `Operators.h` and `Functions.h` include those of all operators.

    inline at::Tensor & blend_out(at::Tensor & out, const at::Tensor & self, const at::Tensor & other) {
      return mylib::_ops::blend_out::call(self, other, out);
    }
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from opgen.api.cpp import DISPATCH_KEY_SET_PARAMETER
from opgen.api.types import render_defns
from opgen.dest.autograd_home import operator_struct
from opgen.dest.cpp_text import string_literal
from opgen.dest.includes import by_root_name
from opgen.dest.operator_call import operator_arguments
from opgen.extension.extension import Extension
from opgen.extension.includes import header, include_all, operator_headers, operator_path, render_file, type_includes
from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet


def emit_operator_headers(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Macros.h`, `Operators.h` and the `ops/….h` that it includes."""
    yield render_file(extension, templates, "Macros.h", "Macros.h")
    yield render_file(extension, templates, "detail/Types.h", "detail/Types.h")
    if any(function.is_boxed for function in extension.program.functions):
        yield render_file(extension, templates, "detail/Boxing.h", "detail/Boxing.h")
    for name, functions in by_root_name(extension.program.functions).items():
        operators = [_operator(extension, function) for function in functions]
        file = render_file(
            extension,
            templates,
            f"ops/{name}_ops.h",
            "OperatorsHeader.h",
            operators=operators,
            type_includes=type_includes(operator.type for operator in operators),
        )
        yield _qualified(extension, file)
    yield include_all(extension, templates, "Operators.h", operator_headers(extension, "_ops"))


def emit_operator_sources(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Operators.cpp`."""
    operators = [_operator(extension, function) for function in extension.program.functions]
    includes = operator_headers(extension, "_ops")
    if any(operator.is_boxed for operator in operators):
        includes = [header(extension, "detail/Boxing.h"), *includes]
    path = "Operators.cpp"
    file = render_file(extension, templates, path, path, operators=operators, includes=includes)
    yield _qualified(extension, file)


_SPACES: Final = frozenset({"at", "c10", "std", "torch"})
_SPACE: Final = re.compile(rf"(?<![\w:.])(?:{'|'.join(sorted(_SPACES))})::(?!call\(|redispatch\()")


def _qualified(extension: Extension, file: OutputFile) -> OutputFile:
    """Return the file with fully qualified namespaces, if an operator's class has the name of one of them."""
    if _SPACES.isdisjoint(function.func.name.unambiguous_name() for function in extension.program.functions):
        return file
    return replace(file, text=_SPACE.sub(r"::\g<0>", file.text))


def emit_function_headers(extension: Extension, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `Functions.h` and the `ops/….h` that it includes."""
    for name, functions in by_root_name(extension.program.functions).items():
        calls = [call for function in functions for call in _functions(extension, function)]
        path = operator_path(extension, name, "")
        yield render_file(extension, templates, path, "FunctionsHeader.h", operator=name, functions=calls)
    yield include_all(extension, templates, "Functions.h", operator_headers(extension, ""))


@dataclass(frozen=True, slots=True)
class _Operator:
    """The template values of an entry point."""

    origin: str
    struct_name: str
    qualified_name: str
    overload_name: str
    schema_literal: str
    type: str
    returns: str
    parameters: str
    redispatch_parameters: str
    arguments: str
    redispatch_arguments: str
    boxed_arguments: str
    is_boxed: bool


def _operator(extension: Extension, function: NativeFunction) -> _Operator:
    signatures = extension.signatures(function)
    signature, name = signatures.dispatcher, function.func.name
    parameters = render_defns(signature.arguments)
    arguments = [binding.name for binding in signature.arguments]
    return _Operator(
        origin=origin(extension, function),
        struct_name=operator_struct(name),
        qualified_name=f"{function.namespace}::{name.name}",
        overload_name=name.overload_name,
        schema_literal=string_literal(signatures.schema),
        type=signature.type(),
        returns=str(signature.returns),
        parameters=parameters,
        redispatch_parameters=", ".join(filter(None, (DISPATCH_KEY_SET_PARAMETER, parameters))),
        arguments=", ".join(arguments),
        redispatch_arguments=", ".join(("dispatchKeySet", *arguments)),
        boxed_arguments=", ".join(("op", *arguments)),
        is_boxed=function.is_boxed,
    )


def origin(extension: Extension, function: NativeFunction) -> str:
    """Return the operator and its schema, but no line: a new entry must not change the code of later entries."""
    return f"{function.namespace}::{extension.signatures(function).schema}"


@dataclass(frozen=True, slots=True)
class _Function:
    """One C++ function that calls an operator."""

    origin: str
    declaration: str
    call: str


def _functions(extension: Extension, function: NativeFunction) -> Iterator[_Function]:
    signatures = extension.signatures(function)
    for signature in signatures.cpp_backend.signatures():
        arguments = operator_arguments(signature, signatures.dispatcher)
        yield _Function(origin(extension, function), signature.decl(), call(extension, function, arguments))


def call(extension: Extension, function: NativeFunction, arguments: str) -> str:
    """Return a call of the operator through the dispatcher."""
    return f"::{extension.namespace}::_ops::{operator_struct(function.func.name)}::call({arguments})"
