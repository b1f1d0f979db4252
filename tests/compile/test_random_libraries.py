"""What opgen takes is C++: a few libraries of random definitions through the front ends of the compilers there are."""

from __future__ import annotations

import os
import shutil
from itertools import islice
from pathlib import Path
from typing import Final

import pytest

from tests.compile.random_definitions import Group, in_namespace, iter_definitions
from tests.compile.random_libraries import check_python, compile_library, make_library, write_library

CLANG = next(filter(shutil.which, ("clang++", *(f"clang++-{version}" for version in range(14, 24)))), None)
COMPILERS = tuple(filter(None, (os.environ.get("CXX", "g++"), CLANG)))
OPERATORS = 32

FOUND: Final = (
    Group(
        "- func: mine::found_q(Tensor(a) self) -> (Tensor(a), Tensor(a))\n"
        "- func: mine::found_q_copy(Tensor self) -> (Tensor, Tensor)\n  tags: view_copy\n"
        "  dispatch: {CompositeExplicitAutogradNonFunctional: found_q_copy}\n  autogen: found_q_copy.out\n"
    ),
    Group("- func: mine::newfunc(Tensor self) -> Tensor\n"),
    Group(
        "- func: mine::found_r(Tensor self, int double) -> Tensor\n  dispatch: {CPU: found_r}\n"
        "- func: mine::found_r_(Tensor(a!) self, int double) -> Tensor(a!)\n  dispatch: {CPU: found_r_}\n",
        '- name: found_r(Tensor self, int double) -> Tensor\n  self: not_implemented("it")\n  result: auto_linear\n',
    ),
    Group(
        "- func: mine::_86(Tensor self) -> Tensor\n  dispatch: {CPU: found_86}\n",
        "- name: _86(Tensor self) -> Tensor\n  self: grad\n",
    ),
    Group(
        "- func: mine::found_p(Tensor self, Tensor Device, Tensor[] OptionalDeviceGuard, int Memory) -> Tensor\n"
        "  dispatch: {CPU: found_p, XPU: found_p_xpu}\n"
    ),
    Group("- func: mine::found_o(Tensor self) -> (Tensor lambda, Tensor x)\n"),
    Group(
        "- func: mine::found_n(Tensor self, Tensor[]? a) -> Tensor\n  dispatch: {CPU: found_n}\n",
        "- name: found_n(Tensor self, Tensor[]? a) -> Tensor\n  self: non_differentiable\n",
    ),
    Group(
        "- func: mine::found_m(Tensor self) -> Tensor\n  tags: pointwise\n"
        "  dispatch:\n    CPU, Batched, ADInplaceOrView, Functionalize: found_m\n"
    ),
    Group("- func: mine::__found__(Tensor self, bool[] a=[], complex[] b=[], bool[3]? c=True) -> Tensor\n"),
    Group(
        "- func: mine::found_a(Tensor self, ScalarType[1] a=[float32], SymInt[2] b=[Mean, 0], bool[] c=[]) -> Tensor\n"
    ),
    Group("- func: mine::found_b(Tensor self, int[] a=[-9223372036854775808], int b=-9223372036854775808) -> Tensor\n"),
    Group(
        "- func: mine::found_c(Tensor self, float a=100000000000000000000, float[] b=[9007199254740993]) -> Tensor\n"
    ),
    Group("- func: \"mine::found_d(Tensor self, str a='b\nc', int b=1, Tensor[] c) -> Tensor\"\n"),
    Group(
        "- func: mine::found_e(Tensor self, int out0, Tensor? out1=None) -> (Tensor, Tensor)\n"
        "  dispatch: {CPU: found_e}\n  autogen: found_e.out\n"
    ),
    Group(
        "- func: mine::_foreach_found(Tensor self, Tensor other) -> Tensor\n  device_check: NoCheck\n"
        "  dispatch: {CPU: foreach_found}\n",
        "- name: _foreach_found(Tensor self, Tensor other) -> Tensor\n"
        "  self: use(grad, other)\n  result: use(self_t)\n",
    ),
    Group(
        "- func: mine::found_f(Tensor self, Tensor[]? a, Tensor[] b, int default) -> Tensor\n"
        "  dispatch: {CPU: found_f}\n",
        "- name: found_f(Tensor self, Tensor[]? a, Tensor[] b, int default) -> Tensor\n"
        "  self: grad\n  result: auto_linear\n",
    ),
    Group(
        "- func: mine::found_g(Tensor(a) self, Tensor[]? more, float[]? b, int[]? c, str? d) -> Tensor(a)\n"
        "  dispatch: {CPU: found_g}\n"
        "- func: mine::found_g_copy(Tensor self, Tensor[]? more, float[]? b, int[]? c, str? d) -> Tensor\n"
        "  dispatch: {CompositeExplicitAutogradNonFunctional: found_g_copy}\n  tags: view_copy\n"
    ),
    Group(
        "- func: mine::found_i(Tensor(a) self, SymInt?[] b, Tensor[] c, SymInt?[]? d) -> Tensor(a)\n"
        "  dispatch: {CPU: found_i}\n"
        "- func: mine::found_i_copy(Tensor self, SymInt?[] b, Tensor[] c, SymInt?[]? d) -> Tensor\n"
        "  dispatch: {CompositeExplicitAutogradNonFunctional: found_i_copy}\n  tags: view_copy\n"
    ),
    Group(
        "- func: mine::found_k(Tensor self, Tensor[]? a, Tensor b) -> Tensor\n  dispatch: {CPU: found_k}\n"
        "- func: mine::found_k.out(Tensor self, Tensor[]? a, Tensor b, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  dispatch: {CPU: found_k_out}\n",
        "- name: found_k(Tensor self, Tensor[]? a, Tensor b) -> Tensor\n  self: grad\n  b: grad\n",
    ),
    Group(
        "- func: mine::found_l(Tensor self, Tensor[] a, int dim, Scalar b) -> Tensor\n"
        "  structured_delegate: found_l.out\n"
        "- func: mine::found_l.out(Tensor self, Tensor[] a, int dim, Scalar b, *, Tensor(a!) out) -> Tensor(a!)\n"
        "  structured: True\n  precomputed:\n  - dim -> Tensor at, Scalar by\n  dispatch: {CPU: found_l}\n",
        "- name: found_l(Tensor self, Tensor[] a, int dim, Scalar b) -> Tensor\n  self: use(grad, a)\n",
    ),
    Group(
        "- func: mine::found_h(Tensor self, Tensor[][] a, Scalar[][] b) -> Tensor\n"
        "  dispatch: {CPU: found_h}\n  autogen: found_h.out\n"
    ),
)
"""Operators of the kinds that random libraries have found to be wrong C++ or Python."""


@pytest.mark.parametrize(("seed", "compiler"), list(enumerate(COMPILERS)))
def test_what_is_taken_compiles(tmp_path: Path, seed: int, compiler: str) -> None:
    library = make_library(tmp_path, seed, OPERATORS, FOUND)
    assert library.groups[: len(FOUND)] == tuple(in_namespace(group, library.namespace) for group in FOUND)
    assert library.operators >= OPERATORS
    assert check_python(library) == ""
    assert compile_library(write_library(tmp_path, library), compiler) == ""


def test_a_library_has_its_number() -> None:
    assert list(islice(iter_definitions(7), 5)) == list(islice(iter_definitions(7), 5))
    assert list(islice(iter_definitions(7), 5)) != list(islice(iter_definitions(8), 5))


@pytest.mark.parametrize("seed", range(100, 103))
def test_no_definitions_are_an_internal_error(tmp_path: Path, seed: int) -> None:
    """Of many entries some are taken, and the others are refused with a place."""
    library = make_library(tmp_path, seed, 40)
    assert library.operators >= 40
    assert check_python(library) == ""
