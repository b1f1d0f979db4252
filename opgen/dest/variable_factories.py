"""Factories → `variable_factories.h`: the functions of namespace torch that make tensors autograd can record.

They create the tensor below autograd, and then wrap it in a variable that requires a gradient if the
options do.

    inline at::Tensor ones(at::IntArrayRef size, at::TensorOptions options = {}) {
      at::AutoDispatchBelowADInplaceOrView guard;
      return autograd::make_variable(at::ones(size, at::TensorOptions(options).requires_grad(::std::nullopt)), …);
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.api.cpp import CppSignature
from opgen.api.python import has_tensor_options
from opgen.api.types import Binding
from opgen.dest.includes import ops_include
from opgen.model import NativeFunction, Variant
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program


def emit_variable_factories(program: Program, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `variable_factories.h`."""
    functions = [function for function in program.functions if is_variable_factory(function)]
    env = {
        "ops_headers": [ops_include(function.root_name) for function in functions],
        "function_definitions": [
            _definition(signature) for function in functions for signature in _signatures(program, function)
        ],
    }
    yield OutputFile("variable_factories.h", templates.render("variable_factories.h", env))


def is_variable_factory(function: NativeFunction) -> bool:
    """Return whether the function makes a tensor with options."""
    return Variant.function in function.variants and has_tensor_options(function)


def _signatures(program: Program, function: NativeFunction) -> Iterator[CppSignature]:
    group = program.signatures(function).cpp
    yield group.signature
    if group.symint_signature is not None:
        yield group.symint_signature


def _definition(signature: CppSignature) -> str:
    name = signature.name()
    parameters = ", ".join([_parameter(binding) for binding in signature.arguments])
    values = ", ".join([_value(binding) for binding in signature.arguments])
    return (
        f"inline at::Tensor {name}({parameters}) {{\n"
        "  at::AutoDispatchBelowADInplaceOrView guard;\n"
        f"  return autograd::make_variable(at::{name}({values}), /*requires_grad=*/options.requires_grad());\n"
        "}"
    )


def _parameter(binding: Binding) -> str:
    return binding.defn() if binding.default is None else f"{binding.defn()} = {binding.default}"


def _value(binding: Binding) -> str:
    if binding.name == "options":
        return "at::TensorOptions(options).requires_grad(::std::nullopt)"
    return binding.name
