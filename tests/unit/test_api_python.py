"""Python signatures of small operators, to read."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from opgen.api.python import signature, signature_from_schema
from opgen.api.python_calls import dispatch_call, parsed_values
from opgen.api.python_overloads import (
    OverloadError,
    Pair,
    group_overloads,
    load_signatures,
)
from opgen.api.signatures import Signatures
from opgen.api.types import UnsupportedTypeError
from opgen.model import FunctionSchema, NativeFunction, Type
from tests.unit.tiny_programs import program_of

# ----------------------------------------------------------------------------------- to read


def _functions(definitions: str) -> tuple[NativeFunction, ...]:
    return program_of(definitions).functions


def _pairs(definitions: str, *, method: bool = False) -> Sequence[Pair]:
    return load_signatures(_functions(definitions), (), method=method)


SCALE = """
- func: scale(Tensor self, Scalar by, int[1]? dim=None) -> Tensor
  variants: function, method
- func: scale.tensor(Tensor self, Tensor by, int[1]? dim=None) -> Tensor
  variants: function, method
- func: scale.out(Tensor self, Scalar by, int[1]? dim=None, *, Tensor(a!) out) -> Tensor(a!)
"""


def test_out_form_and_functional_form_are_one_overload() -> None:
    assert [o.signature.signature_str() for o in group_overloads(_pairs(SCALE))] == [
        "scale(Tensor input, Tensor by, IntArrayRef[1]? dim=None)",
        "scale(Tensor input, Scalar by, IntArrayRef[1]? dim=None, *, Tensor out=None)",
    ]


def test_a_method_has_no_self() -> None:
    pair, *_ = _pairs(SCALE, method=True)
    assert pair.signature.signature_str() == "scale(Scalar by, IntArrayRef[1]? dim=None)"
    call = dispatch_call(pair.signature, Signatures(pair.function), parsed_values(pair.signature))
    assert call.target == "self.scale(by, dim)"
    assert call.arguments == ("self", "_r.scalar(0)", "_r.intlistOptional(1)")


def test_a_factory_takes_options() -> None:
    (pair,) = _pairs(
        "- func: ramp(int n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor\n  dispatch:\n    CompositeExplicitAutograd: ramp\n"
    )
    assert pair.signature.signature_str() == (
        "ramp(int64_t n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=False, bool? requires_grad=False)"
    )
    call = dispatch_call(pair.signature, Signatures(pair.function), parsed_values(pair.signature))
    assert call.target == "torch::ramp(n, options)"
    assert ".dtype(_r.scalartypeWithDefault(1, at::kLong))" in "\n".join(call.inits)
    assert call.requires_grad is None


def test_a_default_of_a_list_has_no_spaces() -> None:
    """A space after a comma is where torch's parser takes the next argument to begin."""
    schema = FunctionSchema.parse("f(Tensor self, int[2] x=[0, 1]) -> Tensor")
    found = signature_from_schema(schema, category_override=None)
    assert found.signature_str() == "f(Tensor input, IntArrayRef[2] x={0,1})"


def test_a_default_of_text_that_the_parser_would_split() -> None:
    text = 'f(Tensor x, str mode="a, b", str? sep=",") -> Tensor'
    found = signature_from_schema(FunctionSchema.parse(text), category_override=None)
    assert found.signature_str() == 'f(Tensor x, c10::string_view mode=None, c10::string_view? sep=",")'
    assert [argument.parsed_value(1) for argument in found.input_args[1:]] == [
        '_r.stringViewWithDefault(1, "a, b")',
        "_r.stringView(1)",
    ]


def test_without_symbolic_integers() -> None:
    (function,) = _functions("- func: crop(Tensor self, SymInt[2] size, SymInt? at=None) -> Tensor\n")
    assert signature(function, symint=False).signature_str() == (
        "crop(Tensor input, IntArrayRef[2] size, int64_t? at=None)"
    )


@pytest.mark.parametrize("text", ["str[]", "bool[]", "SymBool", "__torch__.torch.classes.a.B", "int[][]"])
def test_types_that_python_cannot_give(text: str) -> None:
    argument = dataclasses.replace(_pairs(SCALE)[0].signature.input_args[0], type=Type.parse(text))
    with pytest.raises(UnsupportedTypeError):
        argument.parsed_value(0)


def test_two_forms_with_one_signature() -> None:
    pairs = [
        *_pairs("- func: f.a(Tensor self, int x) -> Tensor\n"),
        *_pairs("- func: f.b(Tensor self, int x) -> Tensor\n"),
    ]
    with pytest.raises(OverloadError, match=r"'f.b' has the same signature in Python as 'f.a'"):
        group_overloads(pairs)


def test_an_out_form_alone() -> None:
    pairs = _pairs("- func: f.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)\n- func: f(Tensor a) -> Tensor\n")
    with pytest.raises(OverloadError, match=r"'f.out' has no functional form with its signature in Python"):
        group_overloads(pairs)
