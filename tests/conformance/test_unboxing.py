"""Unboxing kernels: for each of torch's operators, the same values made of a stack by the same code as torchgen's.

torchgen comes without the program that writes the files; the functions that make their parts are there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opgen.api import unboxing
from opgen.api.types import UnsupportedTypeError
from opgen.gen import parse_native_yaml
from opgen.model import BaseTy, BaseType, FunctionSchema, ListType
from tests.conformance.tokens import tokens_of

their_gen = pytest.importorskip("torchgen.gen")
theirs = pytest.importorskip("torchgen.api.unboxing")
their_context = pytest.importorskip("torchgen.context")
their_model = pytest.importorskip("torchgen.model")
their_local = pytest.importorskip("torchgen.local")


@dataclass(frozen=True, slots=True)
class Kernel:
    """What makes the arguments of one operator of a stack."""

    name: str
    bindings: tuple[tuple[str, str, str], ...]
    """The variable, its type, what it stands for."""
    code: tuple[str, ...]
    """As tokens."""

    @staticmethod
    def of(name: str, bindings: Iterable[Any], code: Iterable[str]) -> Kernel:
        described = tuple((b.name, b.type, str(getattr(b.nctype.name, "name", b.nctype.name))) for b in bindings)
        return Kernel(name, described, tuple(tokens_of("\n".join(code))))


@pytest.fixture(scope="module")
def paths(torch_source: Path) -> tuple[str, str]:
    return str(torch_source / "native/native_functions.yaml"), str(torch_source / "native/tags.yaml")


@pytest.fixture(scope="module")
def oracle(paths: tuple[str, str]) -> Mapping[str, Kernel]:
    found = {}
    for function in their_gen.parse_native_yaml(*paths).native_functions:
        with their_context.native_function_manager(function):
            found[str(function.func.name)] = Kernel.of(theirs.name(function), *theirs.convert_arguments(function))
    return found


def test_arguments_of_every_operator(paths: tuple[str, str], oracle: Mapping[str, Kernel]) -> None:
    ours = {
        str(function.func.name): Kernel.of(unboxing.name(function), *unboxing.convert_arguments(function))
        for function in parse_native_yaml(*paths).native_functions
    }
    assert len(ours) > 3000
    assert ours.keys() == oracle.keys()
    assert [name for name, kernel in ours.items() if kernel != oracle[name]] == []


TYPES = (
    "bool",
    "bool[3]",
    "bool[4]?",
    "Device[]",
    "DeviceIndex",
    "float[]?",
    "Generator?",
    "int[2]",
    "int[2]?",
    "Scalar[]",
    "ScalarType[]",
    "Storage",
    "str[]",
    "SymBool",
    "SymInt[]?",
    "Tensor?[]",
    "Tensor[]?",
)


def _their_unboxing(spelled: str) -> Any:
    (argument,) = their_model.FunctionSchema.parse(f"f({spelled} x) -> ()").arguments.flat_all
    policy = {"use_const_ref_for_mutable_tensors": False, "use_ilistref_for_tensor_lists": False}
    with their_local.parametrize(**policy):
        return theirs.argumenttype_ivalue_convert(argument.type, "x", mutable=False)


@pytest.mark.parametrize("spelled", TYPES)
def test_types(spelled: str) -> None:
    """Types that torch's operators don't use are unboxed as torchgen does too."""
    text = f"f({spelled} x) -> ()"
    expected = _their_unboxing(spelled)
    (argument,) = FunctionSchema.parse(text).arguments.flat_all
    name, ctype, code, declarations = unboxing.argumenttype_ivalue_convert(argument.type, "x")
    assert (name, ctype.cpp_type()) == (expected[0], expected[1].cpp_type())
    assert tokens_of("\n".join(code)) == tokens_of("\n".join(expected[2]))
    assert tokens_of("\n".join(declarations)) == tokens_of("\n".join(expected[3]))


def test_a_list_of_optional_numbers_has_a_vector() -> None:
    """In torchgen's code, elements are appended to an ArrayRef, which can't be compiled."""
    (argument,) = FunctionSchema.parse("f(int?[] x) -> ()").arguments.flat_all
    unboxed = unboxing.unbox(argument.type, "x")
    assert [owner.declaration for owner in unboxed.owners] == ["std::vector<::std::optional<int64_t>> x_vec;"]
    assert unboxed.code[-1] == "at::ArrayRef<::std::optional<int64_t>> x_list_out(x_vec);"
    code = "\n".join(_their_unboxing("int?[]")[2])
    assert "at::ArrayRef<::std::optional<int64_t>> x_list_out;" in code
    assert "x_list_out.push_back(" in code


def test_lists_of_lists_keep_their_elements() -> None:
    """In torchgen's code, all elements gather in one vector, and what refers to it dangles."""
    tensors = ListType(ListType(BaseType(BaseTy.Tensor), None), None)
    unboxed = unboxing.unbox(tensors, "x")
    assert [owner.declaration for owner in unboxed.owners] == [
        "std::vector<std::vector<at::Tensor>> x_elem_vec_kept;",
        "std::vector<at::TensorList> x_vec;",
    ]
    assert "  x_elem_vec_kept.push_back(std::move(x_elem_vec));" in unboxed.code
    _, _, code, declarations = _their_unboxing("Tensor[][]")
    assert "std::vector<at::Tensor> x_elem_vec;" in declarations  # outside of the loop
    assert "at::TensorList x_elem_list_out(x_elem_vec);" in "\n".join(code)


def test_what_has_no_type_in_cpp_says_so() -> None:
    with pytest.raises(UnsupportedTypeError, match="needs a size"):
        unboxing.unbox(ListType(BaseType(BaseTy.bool), None), "x")
