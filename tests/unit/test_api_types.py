"""The C++ of every type in every convention, ours against torchgen's, and the type algebra itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

pytest.importorskip("torchgen")

import torchgen.api.cpp as their_cpp
import torchgen.api.native as their_native
import torchgen.api.structured as their_structured
import torchgen.api.types as their_types
import torchgen.api.ufunc as their_ufunc
import torchgen.local as their_local
import torchgen.model as their_model

from opgen.api import cpp, native, structured, types, ufunc
from opgen.api.types import (
    ArrayCType,
    ArrayRefCType,
    BaseCppType,
    BaseCType,
    Binding,
    ConstRefCType,
    CType,
    ListCType,
    MutRefCType,
    NamedCType,
    OptionalCType,
    TupleCType,
    TypePolicy,
    UnsupportedTypeError,
    VectorCType,
    VectorizedCType,
    longT,
    scalar_t,
    tensorT,
)
from opgen.diagnostics import Diagnostics
from opgen.model import Argument, BaseTy, ScalarType, Type
from opgen.releases.choice import choose_release

INSTALLED = choose_release(None, None, Diagnostics())
assert INSTALLED is not None
BASES = [*(ty.name for ty in BaseTy if ty not in INSTALLED.release.missing_types), "__torch__.torch.classes.foo.Bar"]
"""The types that the installed torch has."""
SHAPES = ["{}", "{}?", "{}[]", "{}[2]", "{}[]?", "{}[2]?", "{}?[]", "{}?[2]", "{}[][]", "{}[2][]", "{}?[]?"]
TYPES = [shape.format(base) for base in BASES for shape in SHAPES]
OPTIONAL_LISTS = ("Tensor[]?", "Tensor[2]?")
"""Of these torchgen's structured operators take an optional of a reference, which C++ doesn't have."""
POLICIES = [TypePolicy(const_ref, ilistref) for const_ref in (False, True) for ilistref in (False, True)]


def outcome(ask: Callable[..., Any], *args: object, **flags: object) -> object:
    """How a C++ type is spelled, or that there is none."""
    try:
        result = ask(*args, **flags)
    except (AssertionError, KeyError, UnsupportedTypeError):
        return "unsupported"
    return None if result is None else (result.cpp_type(), result.cpp_type(strip_ref=True))


def both(text: str) -> tuple[Any, Type]:
    """torchgen's value for a type with ours."""
    return their_model.Type.parse(text), Type.parse(text)


def with_policies() -> Iterator[TypePolicy]:
    """Every policy, torchgen's thread-local one set to the same."""
    for policy in POLICIES:
        with their_local.parametrize(
            use_const_ref_for_mutable_tensors=policy.use_const_ref_for_mutable_tensors,
            use_ilistref_for_tensor_lists=policy.use_ilistref_for_tensor_lists,
        ):
            yield policy


@pytest.mark.parametrize("text", TYPES)
def test_parameters(text: str) -> None:
    theirs, mine = both(text)
    for policy in with_policies():
        if policy.use_ilistref_for_tensor_lists and text in OPTIONAL_LISTS:
            continue
        for symint in (False, True):
            for mutable in (False, True):
                flags: dict[str, Any] = {"mutable": mutable, "binds": "x", "symint": symint}
                assert outcome(native.argumenttype_type, mine, policy=policy, **flags) == outcome(
                    their_native.argumenttype_type, theirs, **flags
                )
                for owning in (False, True):
                    flags["remove_non_owning_ref_types"] = owning
                    assert outcome(cpp.argumenttype_type, mine, policy=policy, **flags) == outcome(
                        their_cpp.argumenttype_type, theirs, **flags
                    )


@pytest.mark.parametrize("text", OPTIONAL_LISTS)
def test_an_optional_list_is_the_same_in_structured_operators(text: str) -> None:
    for policy in POLICIES:
        found = cpp.argumenttype_type(Type.parse(text), mutable=False, binds="x", policy=policy)
        assert found.cpp_type() == "::std::optional<at::TensorList>"
    assert structured.argumenttype_type(Type.parse(text), mutable=False, binds="x") == found


@pytest.mark.parametrize("text", TYPES)
def test_returns(text: str) -> None:
    theirs, mine = both(text)
    for policy in with_policies():
        for mutable in (False, True):
            assert outcome(cpp.returntype_type, mine, mutable=mutable, policy=policy) == outcome(
                their_cpp.returntype_type, theirs, mutable=mutable
            )


@pytest.mark.parametrize("text", TYPES)
def test_values_structured_and_ufuncs(text: str) -> None:
    theirs, mine = both(text)
    for symint in (False, True):
        assert outcome(cpp.valuetype_type, mine, binds="x", symint=symint) == outcome(
            their_cpp.valuetype_type, theirs, binds="x", symint=symint
        )
    if text not in ("SymInt[]?", "SymInt[2]?", *OPTIONAL_LISTS):
        assert outcome(structured.argumenttype_type, mine, mutable=False, binds="x") == outcome(
            their_structured.argumenttype_type, theirs, mutable=False, binds="x"
        )
    assert outcome(ufunc.dispatchstub_type, mine, binds="x") == outcome(
        their_ufunc.dispatchstub_type, theirs, binds="x"
    )
    for name in ("ufunctor_ctor_type", "ufunctor_apply_type"):
        assert outcome(getattr(ufunc, name), mine, binds="x", scalar_t=scalar_t) == outcome(
            getattr(their_ufunc, name), theirs, binds="x", scalar_t=their_types.scalar_t
        )


@pytest.mark.parametrize("text", ["SymInt[]?", "SymInt[2]?"])
def test_structured_operators_take_symbolic_lists_as_their_callers_have_them(text: str) -> None:
    """torchgen takes an optional of a list, into which the caller's `OptionalIntArrayRef` doesn't convert."""
    found = structured.argumenttype_type(Type.parse(text), mutable=False, binds="x")
    assert found.cpp_type() == "at::OptionalIntArrayRef"


DEFAULTS = [
    ("1", "int"),
    ("Mean", "int"),
    ("0.5", "float"),
    ("1e-05", "float"),
    ("True", "bool"),
    ("False", "bool?"),
    ("None", "bool?"),
    ("None", "Tensor?"),
    ("None", "Generator?"),
    ("None", "int[]?"),
    ("[]", "int[]"),
    ("[0,1]", "int[]"),
    ("[-2,-1]", "int[1]?"),
    ("[-2,-1]", "SymInt[1]"),
    ("0", "int[2]"),
    ("0", "SymInt[2]"),
    ("0", "SymInt[2]?"),
    ("1", "int[1]?"),
    ("1", "SymInt"),
    ("1", "SymInt?"),
    ("[0,1,1]", "bool[3]"),
    ("[1.0,2.0]", "float[]?"),
    ("1", "Scalar"),
    ("1", "Scalar?"),
    ("long", "ScalarType"),
    ("contiguous_format", "MemoryFormat"),
    ('"abc"', "str"),
    ("'sum'", "str"),
    ("'constant'", "str?"),
    ("None", "str?"),
    ("''", "str"),
    ("'it\\'s \"it\"'", "str"),
    ('"it\'s"', "str"),
    ('"x\\"y"', "str"),
    ("'\\n'", "str"),
]


@pytest.mark.parametrize("symint", [False, True])
@pytest.mark.parametrize(("default", "text"), DEFAULTS)
def test_defaults(default: str, text: str, symint: bool) -> None:
    theirs, mine = both(text)
    assert cpp.default_expr(default, mine, symint=symint) == their_cpp.default_expr(default, theirs, symint=symint)


TENSOR, LONG = BaseCType(tensorT), BaseCType(longT)
SPELLINGS: list[tuple[CType, str, str, str]] = [
    (TENSOR, "at::Tensor", "at::Tensor", "at::Tensor"),
    (LONG, "int64_t", "int64_t", "int64_t"),
    (ConstRefCType(TENSOR), "const at::Tensor &", "at::Tensor", "at::Tensor"),
    (MutRefCType(TENSOR), "at::Tensor &", "at::Tensor", "at::Tensor"),
    (
        ConstRefCType(OptionalCType(TENSOR)),
        "const ::std::optional<at::Tensor> &",
        "::std::optional<at::Tensor>",
        "::std::optional<at::Tensor>",
    ),
    (ListCType(MutRefCType(TENSOR)), "c10::List<at::Tensor &>", "c10::List<at::Tensor &>", "c10::List<at::Tensor>"),
    (
        ArrayRefCType(ConstRefCType(TENSOR)),
        "at::ArrayRef<const at::Tensor &>",
        "at::ArrayRef<const at::Tensor &>",
        "at::ArrayRef<at::Tensor>",
    ),
    (VectorCType(MutRefCType(LONG)), "::std::vector<int64_t &>", "::std::vector<int64_t &>", "::std::vector<int64_t>"),
    (ArrayCType(LONG, 3), "::std::array<int64_t,3>", "::std::array<int64_t,3>", "::std::array<int64_t,3>"),
    (
        TupleCType((MutRefCType(TENSOR), LONG)),
        "::std::tuple<at::Tensor &,int64_t>",
        "::std::tuple<at::Tensor &,int64_t>",
        "::std::tuple<at::Tensor,int64_t>",
    ),
    (
        VectorizedCType(BaseCType(scalar_t)),
        "at::vec::Vectorized<scalar_t>",
        "at::vec::Vectorized<scalar_t>",
        "at::vec::Vectorized<scalar_t>",
    ),
]


@pytest.mark.parametrize(("ctype", "spelled", "stripped", "removed"), SPELLINGS)
def test_spellings(ctype: CType, spelled: str, stripped: str, removed: str) -> None:
    assert ctype.cpp_type() == str(ctype) == spelled
    assert ctype.cpp_type(strip_ref=True) == stripped
    assert ctype.remove_const_ref().cpp_type() == removed
    named = NamedCType("x", ctype)
    assert named.remove_const_ref() == NamedCType("x", ctype.remove_const_ref())
    assert named.with_name("y") == NamedCType("y", ctype)


def test_equal_types_are_those_spelled_the_same() -> None:
    assert OptionalCType(TENSOR) == OptionalCType(BaseCType(BaseCppType("at", "Tensor")))
    assert len({OptionalCType(TENSOR), OptionalCType(TENSOR), TENSOR}) == 2
    assert TENSOR != "at::Tensor"


def test_bindings() -> None:
    argument = Argument("x", Type.parse("int"), "3", None)
    binding = Binding("x", NamedCType("x", LONG), argument, "3")
    assert binding.decl() == "int64_t x=3"
    assert binding.defn() == binding.no_default().decl() == "int64_t x"
    assert binding.decl(func_ptr_cast=True) == binding.type == "int64_t"
    assert binding.with_name("y").decl() == "int64_t y=3"
    assert binding.with_name("y").nctype.name == "x"


def test_names_of_cpp() -> None:
    for name, value in vars(their_types).items():
        if isinstance(value, their_types.BaseCppType):
            assert str(getattr(types, name)) == str(value), name
    for ty, theirs in their_types.BaseTypeToCppMapping.items():
        assert str(types.BASE_TYPE_TO_CPP[BaseTy[ty.name]]) == str(theirs)
    for dtype, theirs in their_types.ScalarTypeToCppMapping.items():
        assert str(types.SCALAR_TYPE_TO_CPP[ScalarType[dtype.name]]) == str(theirs)
