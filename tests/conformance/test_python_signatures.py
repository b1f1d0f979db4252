"""Python signatures: ours against torchgen's, on all operators of torch's and on orders at random.

torchgen writes the strings for the argument parser from torch's own definitions; ours must be the same.  Only its
public functions are called.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torchgen")

import torchgen.api.python as their_api
import torchgen.gen as their_gen
import torchgen.model as their_model
import torchgen.packaged.autograd.gen_python_functions as their_bindings

from opgen.api.python import signature, signature_from_schema
from opgen.api.python_overloads import (
    Overload,
    group_by_name,
    group_overloads,
    is_in_module,
    is_py_torch_function,
    is_py_variable_method,
    load_signatures,
    should_generate_py_binding,
    sort_overloads,
)
from opgen.api.python_parser import argument_type_size, argument_type_str
from opgen.diagnostics import Diagnostics
from opgen.frontend.deprecated import load_deprecated
from opgen.gen import parse_native_yaml
from opgen.model import FunctionSchema, NativeFunction
from tests.unit.tiny_programs import program_of

MODULES = ("nn", "fft", "linalg", "nested", "sparse", "special")


@dataclass(frozen=True)
class Side:
    """Both generators' view of torch's operators."""

    functions: tuple[Any, ...]
    deprecated: Path


@pytest.fixture(scope="module")
def theirs(torch_source: Path) -> Side:
    native = torch_source / "native"
    parsed = their_gen.parse_native_yaml(str(native / "native_functions.yaml"), str(native / "tags.yaml"))
    return Side(tuple(parsed.native_functions), torch_source.parent / "autograd" / "deprecated.yaml")


@pytest.fixture(scope="module")
def ours(torch_source: Path) -> Side:
    native = torch_source / "native"
    parsed = parse_native_yaml(native / "native_functions.yaml", native / "tags.yaml")
    return Side(parsed.native_functions, torch_source.parent / "autograd" / "deprecated.yaml")


def test_the_same_functions_are_bound(theirs: Side, ours: Side) -> None:
    expected = [str(f.func.name) for f in theirs.functions if their_bindings.should_generate_py_binding(f)]
    assert [str(f.func.name) for f in ours.functions if should_generate_py_binding(f)] == expected


@pytest.mark.parametrize("method", [False, True])
def test_every_signature(theirs: Side, ours: Side, method: bool) -> None:
    for their, our in zip(theirs.functions, ours.functions, strict=True):
        if str(our.func.name) == "requires_grad_":
            continue  # torchgen refuses it: it isn't bound, and has an argument with a name of the options
        expected = their_api.signature(their, method=method)
        actual = signature(our, method=method)
        for skip in (False, True):
            assert actual.signature_str(skip_outputs=skip) == expected.signature_str(skip_outputs=skip)
        assert actual.arguments_count() == expected.arguments_count()
        values = [a.parsed_value(i) for i, a in enumerate(actual.arguments()) if should_generate_py_binding(our)]
        their_values = [
            their_api.arg_parser_output_expr(i, a).expr
            for i, a in enumerate(expected.arguments())
            if should_generate_py_binding(our)
        ]
        assert values == their_values


def test_every_type(theirs: Side, ours: Side) -> None:
    seen: set[str] = set()
    for their, our in zip(theirs.functions, ours.functions, strict=True):
        for a, b in zip(their.func.arguments.flat_all, our.func.arguments.flat_all, strict=True):
            if str(b.type) in seen:
                continue
            seen.add(str(b.type))
            expected = their_api.argument_type_str(a.type, simple_type=True)
            assert argument_type_str(b.type, simple_type=True) == expected
            assert argument_type_size(b.type) == their_api.argument_type_size(a.type)
    assert len(seen) > 40


@pytest.mark.parametrize("method", [False, True])
def test_every_group_of_overloads(theirs: Side, ours: Side, method: bool) -> None:
    """Which forms share a signature, old ones included, and the order in which the parser tries them."""
    bound = [f for f in theirs.functions if their_bindings.should_generate_py_binding(f)]
    their_pairs = their_bindings.load_signatures(bound, str(theirs.deprecated), method=method)
    log = Diagnostics()
    forms = load_deprecated(ours.deprecated, ours.functions, log)
    our_pairs = load_signatures(filter(should_generate_py_binding, ours.functions), forms, method=method)
    assert not log.all
    selections: list[tuple[Any, Any]] = [(their_bindings.is_py_torch_function, is_py_torch_function)]
    selections += [(getattr(their_bindings, f"is_py_{name}_function"), is_in_module(name)) for name in MODULES]
    if method:
        selections = [(their_bindings.is_py_variable_method, is_py_variable_method)]
    for their_selection, our_selection in selections:
        expected = their_bindings.group_filter_overloads(their_pairs, their_selection)
        actual = group_by_name(our_pairs, our_selection)
        assert [str(name) for name in expected] == list(actual)
        for name, overloads in expected.items():
            their_groups = their_bindings.group_overloads(overloads)
            our_groups = group_overloads(actual[str(name)])
            assert list(map(_described, our_groups)) == list(map(_described, their_groups))


def _described(group: Any) -> tuple[str, str, str]:
    """What both kinds of group say."""
    out = "" if group.outplace is None else str(group.outplace.func.name)
    return group.signature.signature_str(), str(group.base.func.name), out


TYPES = (
    *("Tensor", "Scalar", "int", "float", "bool", "str", "SymInt", "Device", "bool[2]"),
    *("Tensor?", "Scalar?", "int?", "SymInt?", "Tensor[]", "Scalar[]", "int[]", "int[1]", "SymInt[]", "SymInt[1]"),
    *("int[]?", "int[1]?", "SymInt[]?", "float[]?", "float[]", "Tensor?[]", "Tensor[2]"),
)


@pytest.mark.parametrize("seed", range(4))
def test_order_of_random_overloads(theirs: Side, seed: int) -> None:
    chance = random.Random(seed)
    function = next(f for f in theirs.functions if str(f.func.name) == "abs")
    for _ in range(250):
        schemas = _random_overloads(chance)
        expected = their_bindings.sort_overloads([_their_overload(schema, function) for schema in schemas])
        actual = sort_overloads([_our_overload(schema) for schema in schemas])
        assert [o.signature.signature_str() for o in actual] == [o.signature.signature_str() for o in expected]


def _random_overloads(chance: random.Random) -> list[str]:
    types, usual = chance.sample(TYPES, chance.randint(2, 6)), chance.choice([1, 1, 2, 2, 3])
    found = set()
    for _ in range(chance.randint(2, 6)):
        count = chance.choice([usual, usual, usual, usual + 1])
        arguments = ", ".join(f"{chance.choice(types)} x{at}" for at in range(count))
        found.add(f"f(Tensor self, {arguments}) -> Tensor")
    return sorted(found, key=lambda _: chance.random())


def _their_overload(schema: str, function: Any) -> Any:
    parsed = their_model.FunctionSchema.parse(schema)
    own = their_api.signature_from_schema(parsed, category_override=None)
    return their_api.PythonSignatureGroup(signature=own, base=function, outplace=None)


def _our_overload(schema: str) -> Overload:
    function = _functions("- func: abs(Tensor self) -> Tensor\n")[0]
    return Overload(signature_from_schema(FunctionSchema.parse(schema), category_override=None), function, None)


def _functions(definitions: str) -> tuple[NativeFunction, ...]:
    return program_of(definitions).functions
