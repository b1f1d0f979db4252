"""Which types torch's dispatcher passes to kernels and takes from them.

Each type that is accepted was compiled, loaded and called with torch 2.13 (streams and lists of lists were compiled
only); each that isn't failed at one of these.
"""

# ruff: noqa: E501  (a line has all forms of a type)

from __future__ import annotations

import pytest
from expecttest import TestCase

from opgen.api import cpp, dispatcher
from opgen.api.types import UnsupportedTypeError
from opgen.model import BaseTy, Type

SHAPES = ("{}", "{}?", "{}[]", "{}[2]", "{}[]?", "{}[2]?", "{}?[]", "{}?[]?", "{}??", "{}[][]", "{}[]?[]", "{}[2][]")
NOT_LISTED = (BaseTy.DimVector, BaseTy.GraphModule, BaseTy.DeviceIndex, BaseTy.QScheme)
"""What no extension may take (`opgen.extension.rules`), and what has no values."""


def taken(type: Type) -> None:
    cpp.argumenttype_type(type, mutable=False, binds="x")
    dispatcher.check_argument_type(type)


def returned(type: Type) -> None:
    cpp.returntype_type(type, mutable=False)
    dispatcher.check_return_type(type)


def accepted(check: object) -> str:
    assert callable(check)
    lines = []
    for base in BaseTy:
        if base not in NOT_LISTED:
            legal = []
            for shape in SHAPES:
                text = shape.format(base.name)
                try:
                    check(Type.parse(text))
                except UnsupportedTypeError:
                    continue
                legal.append(text)
            lines.append(" ".join(legal))
    return "\n".join(lines) + "\n"


class TestTypes(TestCase):  # type: ignore[misc]  # expecttest has no types
    def test_taken(self) -> None:
        self.assertExpectedInline(
            accepted(taken),
            """\
Generator? Generator?[] Generator?[]?
ScalarType ScalarType? ScalarType[] ScalarType[2] ScalarType[]? ScalarType[2]? ScalarType?[] ScalarType?[]?
Tensor Tensor? Tensor[] Tensor[2] Tensor[]? Tensor[2]? Tensor?[]
int int? int[] int[2] int[]? int[2]? int?[] int?[]?
Dimname Dimname? Dimname[] Dimname[2] Dimname[]? Dimname[2]? Dimname?[] Dimname?[]?
float float? float[] float[2] float[]? float[2]? float?[] float?[]?
str str? str[] str[2] str[]? str[2]? str?[] str?[]?
bool bool? bool[2] bool[2]? bool?[] bool?[]?
Layout Layout? Layout[] Layout[2] Layout[]? Layout[2]? Layout?[] Layout?[]?
Device Device? Device[] Device[2] Device[]? Device[2]? Device?[] Device?[]?
Scalar Scalar? Scalar[] Scalar[2] Scalar[]? Scalar[2]?
MemoryFormat MemoryFormat? MemoryFormat[] MemoryFormat[2] MemoryFormat[]? MemoryFormat[2]? MemoryFormat?[] MemoryFormat?[]?
Storage Storage? Storage[] Storage[2] Storage[]? Storage[2]? Storage?[] Storage?[]?
Stream Stream? Stream[] Stream[2] Stream[]? Stream[2]? Stream?[] Stream?[]?
SymInt SymInt? SymInt[] SymInt[2] SymInt[]? SymInt[2]?
SymBool SymBool? SymBool?[] SymBool?[]?
""",
        )

    def test_returned(self) -> None:
        self.assertExpectedInline(
            accepted(returned),
            """\
Generator? Generator?[]
ScalarType ScalarType? ScalarType[] ScalarType?[] ScalarType[][]
Tensor Tensor? Tensor[] Tensor?[] Tensor[][]
int int? int[] int?[] int[][]
Dimname Dimname? Dimname[] Dimname?[] Dimname[][]
float float? float[] float?[] float[][]
str str? str[] str?[] str[][]
bool bool? bool[2] bool[2]? bool?[] bool[2][]
Layout Layout? Layout[] Layout?[] Layout[][]
Device Device? Device[] Device?[] Device[][]
Scalar
MemoryFormat MemoryFormat? MemoryFormat[] MemoryFormat?[] MemoryFormat[][]
Storage Storage? Storage[] Storage?[] Storage[][]
Stream Stream? Stream[] Stream?[] Stream[][]
SymInt SymInt? SymInt[] SymInt?[] SymInt[][]
SymBool SymBool? SymBool[] SymBool?[] SymBool[][]
""",
        )


@pytest.mark.parametrize(("text", "mended"), [("Generator[]?", "Generator?[]?"), ("Generator", "Generator?")])
def test_a_generator_is_always_optional(text: str, mended: str) -> None:
    with pytest.raises(UnsupportedTypeError, match=f"write '{mended}'".replace("?", r"\?").replace("[]", r"\[\]")):
        dispatcher.check_argument_type(Type.parse(text))
