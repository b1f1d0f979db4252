"""The conversions between types, ours against torchgen's: alone, for all operators, and at random."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("torchgen")

import torchgen.api.translate as their_translate
import torchgen.api.types as their_types

from opgen.api import types
from opgen.api.signatures import Signatures
from opgen.api.translate import UnsatError, translate
from opgen.api.types import (
    ArrayRefCType,
    BaseCType,
    Binding,
    ConstRefCType,
    CType,
    Expr,
    ListCType,
    MutRefCType,
    NamedCType,
    OptionalCType,
    SpecialArgName,
    VectorCType,
    VectorizedCType,
    scalar_t,
)
from opgen.model import Argument, Type
from tests.conformance.test_api import with_policy

WRAPPERS: dict[str, type[Any]] = {
    "ArrayRefCType": ArrayRefCType,
    "ConstRefCType": ConstRefCType,
    "ListCType": ListCType,
    "MutRefCType": MutRefCType,
    "OptionalCType": OptionalCType,
    "VectorCType": VectorCType,
}
BASES = [
    *("tensorT", "optionalTensorRefT", "scalarT", "optionalScalarRefT", "scalar_t", "opmath_t", "longT", "SymIntT"),
    *("intArrayRefT", "optionalIntArrayRefT", "symIntArrayRefT", "optionalSymIntArrayRefT", "SymBoolT", "boolT"),
    *("tensorListT", "iTensorListRefT", "iOptTensorListRefT", "tensorOptionsT", "doubleT", "memoryFormatT"),
    *("scalarTypeT", "deviceT", "layoutT", "stringT", "generatorT", "dimVectorT", "storageT"),
]


def theirs(ctype: CType) -> Any:
    """torchgen's value for one of our types."""
    if isinstance(ctype, BaseCType):
        return their_types.BaseCType(their_types.BaseCppType(ctype.type.ns, ctype.type.name))
    return getattr(their_types, type(ctype).__name__)(theirs(ctype.elem))  # type: ignore[attr-defined]


def some_types() -> list[CType]:
    """The types that occur, plainly and wrapped once or twice (there are no references to references)."""
    bases: list[CType] = [BaseCType(getattr(types, name)) for name in BASES]
    once: list[CType] = [wrap(base) for base in bases for wrap in WRAPPERS.values()]
    twice: list[CType] = [wrap(inner) for inner in once[:24] for wrap in (ConstRefCType, MutRefCType, OptionalCType)]
    made = [*bases, *once, *twice, VectorizedCType(BaseCType(scalar_t))]
    return [ctype for ctype in made if not str(ctype).endswith("& &")]


def their_name(name: str | SpecialArgName) -> Any:
    """torchgen's value for what a value stands for."""
    return name if isinstance(name, str) else their_types.SpecialArgName[name.name]


def outcomes(
    known: list[tuple[str, str | SpecialArgName, CType]], goal: tuple[str | SpecialArgName, CType], **flags: bool
) -> tuple[str | None, str | None]:
    """The expression that we find for a goal, and the one that torchgen finds."""
    found: list[str | None] = [None, None]
    try:
        bindings = [Expr(expr, NamedCType(name, ctype)) for expr, name, ctype in known]
        found[0] = translate(bindings, [NamedCType(*goal)], **flags)[0].expr
    except UnsatError:
        pass
    try:
        their_bindings = [
            their_types.Expr(expr, their_types.NamedCType(their_name(name), theirs(ctype)))
            for expr, name, ctype in known
        ]
        their_goal = their_types.NamedCType(their_name(goal[0]), theirs(goal[1]))
        found[1] = their_translate.translate(their_bindings, [their_goal], **flags)[0].expr
    except their_translate.UnsatError:
        pass
    return found[0], found[1]


@pytest.mark.parametrize("copies", [False, True])
@pytest.mark.parametrize("base", BASES)
def test_one_to_one(base: str, copies: bool) -> None:
    source_base = getattr(types, base).name
    same_base = [ctype for ctype in some_types() if source_base in str(ctype)]
    goals = dict.fromkeys([*same_base, *(BaseCType(getattr(types, name)) for name in BASES), *some_types()[::5]])
    for source in same_base:
        for goal in goals:
            actual, expected = outcomes([("E", "x", source)], ("x", goal), allow_expensive_conversions=copies)
            assert actual == expected, f"{source} to {goal}"


OPTIONS: list[tuple[str | SpecialArgName, CType]] = [
    ("dtype", OptionalCType(BaseCType(types.scalarTypeT))),
    ("layout", OptionalCType(BaseCType(types.layoutT))),
    ("device", OptionalCType(BaseCType(types.deviceT))),
    ("pin_memory", OptionalCType(BaseCType(types.boolT))),
]
MEMORY_FORMATS: list[tuple[str | SpecialArgName, CType]] = [
    ("memory_format", OptionalCType(BaseCType(types.memoryFormatT))),
    (SpecialArgName.possibly_redundant_memory_format, OptionalCType(BaseCType(types.memoryFormatT))),
]
WHOLE: list[tuple[str | SpecialArgName, CType]] = [
    ("options", BaseCType(types.tensorOptionsT)),
    ("options", ConstRefCType(BaseCType(types.tensorOptionsT))),
]
TENSORS: list[tuple[str | SpecialArgName, CType]] = [
    (name, wrap(BaseCType(types.tensorT)))
    for name in ("out", "self")
    for wrap in (ConstRefCType, MutRefCType, lambda ctype: ctype)
]


@pytest.mark.parametrize("seed", range(8))
def test_tensor_options_at_random(seed: int) -> None:
    facts = OPTIONS + MEMORY_FORMATS + WHOLE + TENSORS
    rng = random.Random(seed)
    for _ in range(100):
        chosen = rng.sample(facts, rng.randint(0, 8))
        known = [(f"E{at}", name, ctype) for at, (name, ctype) in enumerate(chosen)]
        for goal in facts:
            for method in (False, True):
                actual, expected = outcomes(known, goal, method=method)
                assert actual == expected, f"{known} to {goal}"


@pytest.mark.parametrize("seed", range(8))
def test_several_of_a_name_at_random(seed: int) -> None:
    all_types = some_types()
    rng = random.Random(seed)
    for _ in range(40):
        base = getattr(types, rng.choice(BASES)).name
        near = [ctype for ctype in all_types if base in str(ctype)] + rng.sample(all_types, 3)
        known: list[tuple[str, str | SpecialArgName, CType]] = [
            (f"E{at}", "x", ctype) for at, ctype in enumerate(rng.sample(near, min(3, len(near))))
        ]
        for goal in near:
            for copies in (False, True):
                actual, expected = outcomes(known, ("x", goal), allow_expensive_conversions=copies)
                assert actual == expected, f"{known} to {goal}"


def spell(exprs: Any) -> list[tuple[str, str]]:
    """Expressions, ours or torchgen's, with their types."""
    return [(e.expr, e.type.cpp_type()) for e in exprs]


def test_between_the_conventions_of_every_operator() -> None:
    for their_function, function in with_policy():
        mine, func = Signatures(function), their_function.func
        their_cpp = their_types.CppSignatureGroup.from_native_function(their_function, method=False)
        their_method = their_types.CppSignatureGroup.from_native_function(their_function, method=True)
        their_dispatcher = [their_types.DispatcherSignature.from_schema(func, symint=s) for s in (False, True)]
        their_native = [their_types.NativeSignature(func, symint=s) for s in (False, True)]
        my_dispatcher, my_native = (mine.dispatcher_nosymint, mine.dispatcher), (mine.native, mine.native_symint)
        for signature, expected in zip(mine.cpp.signatures(), their_cpp.signatures()):
            goals, their_goals = mine.dispatcher.arguments, their_dispatcher[1].arguments()
            assert spell(translate(signature.arguments, goals)) == spell(
                their_translate.translate(expected.arguments(), their_goals)
            )
        if "method" in {variant.name for variant in their_function.variants}:
            for signature, expected in zip(mine.cpp_method.signatures(), their_method.signatures()):
                assert spell(translate(signature.arguments, goals, method=True)) == spell(
                    their_translate.translate(expected.arguments(), their_goals, method=True)
                )
        for source in (0, 1):
            for goal in (0, 1):
                assert spell(translate(my_dispatcher[source].arguments, my_native[goal].arguments)) == spell(
                    their_translate.translate(their_dispatcher[source].arguments(), their_native[goal].arguments())
                )


def test_bindings_are_known_by_their_own_names() -> None:
    argument = Argument("x", Type.parse("int"), None, None)
    binding = Binding("n", NamedCType("x", types.LONG), argument)
    goal = Binding("z", NamedCType("x", types.SYM_INT), argument)
    assert translate([binding], [goal]) == [Expr("n", NamedCType("x", types.SYM_INT))]


def test_what_cannot_be_had() -> None:
    known = [Expr("E", NamedCType("x", types.LONG))]
    with pytest.raises(UnsatError, match=r"no conversion to 'at::Tensor y' from:\n  int64_t x  // E"):
        translate(known, [NamedCType("y", types.TENSOR)])
    with pytest.raises(UnsatError, match="from: nothing"):
        translate([], [NamedCType(SpecialArgName.possibly_redundant_memory_format, types.TENSOR)])
