"""Operators with the variant `method` → members of the class `Tensor`.

`core/TensorBody.h` declares and defines them, `core/TensorMethods.cpp` has the rest of the class.  Members
are const functions even if they mutate the tensor, since they mutate its data, not the handle.

    inline at::Tensor & Tensor::add_(const at::Tensor & other, const at::Scalar & alpha) const {
      return at::_ops::add__Tensor::call(const_cast<Tensor&>(*this), other, alpha);
    }
"""

from __future__ import annotations

from collections.abc import Iterator

from opgen.dest.operator_call import operator_call
from opgen.dest.origin import origin_comment
from opgen.dest.presence import Presence
from opgen.model import NativeFunction, Variant
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program


def emit_tensor_headers(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `core/TensorBody.h`."""
    methods = [function for function in program.functions if Variant.method in function.variants]
    env = {
        "tensor_method_declarations": [text for f in methods for text in _method_declarations(program, f)],
        "tensor_method_definitions": [text for f in methods for text in _method_definitions(program, f, options)],
        "has_method": Presence.among(program, Variant.method),
    }
    yield OutputFile("core/TensorBody.h", templates.render("TensorBody.h", env), group="core_")


def emit_tensor_sources(program: Program, options: Options, templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield `core/TensorMethods.cpp`."""
    del options
    env = {"has_method": Presence.among(program, Variant.method)}
    yield OutputFile("core/TensorMethods.cpp", templates.render("TensorMethods.cpp", env), group="core_")


def _method_declarations(program: Program, function: NativeFunction) -> Iterator[str]:
    for signature in program.signatures(function).cpp_method.signatures():
        yield f"{signature.decl()} const;"


def _method_definitions(program: Program, function: NativeFunction, options: Options) -> Iterator[str]:
    signatures = program.signatures(function)
    comment = f"\n{origin_comment(program, function, options)}\n"
    for signature in signatures.cpp_method.signatures():
        call = operator_call(signature, signatures.dispatcher)
        yield f"{comment}inline {signature.defn(prefix='Tensor::')} const {{\n  return {call};\n}}\n"
