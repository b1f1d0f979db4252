"""Classes of `opgen.frozen_dataclass` mean what those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from opgen import frozen_dataclass


def _make_classes(dataclass: Callable[..., Any]) -> tuple[Any, Any, Any]:
    @dataclass(frozen=True, slots=True)
    class Point:
        x: int
        y: int = 2
        seen: list[int] = dataclasses.field(default_factory=list, compare=False, repr=False)
        total: int = dataclasses.field(init=False, compare=False)
        label: str = dataclasses.field(default="p", init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "total", self.x + self.y)

    @dataclass(frozen=True, slots=True)
    class Derived(Point):
        z: int = 3

        def __hash__(self) -> int:
            return 7

    @dataclass(frozen=True, slots=True, eq=False)
    class Same:
        value: int

    return Point, Derived, Same


ours, theirs = _make_classes(frozen_dataclass.dataclass), _make_classes(dataclasses.dataclass)
Point, Derived, Same = ours


@pytest.mark.parametrize(("own", "other"), list(zip(ours, theirs, strict=True)))
def test_classes_are_alike(own: Any, other: Any) -> None:
    value, expected = own(1), other(1)
    assert repr(value) == repr(expected)
    assert own.__match_args__ == other.__match_args__
    assert own.__slots__ == other.__slots__
    assert (own.__hash__ is object.__hash__) == (other.__hash__ is object.__hash__)
    assert (value == own(1)) == (expected == other(1))
    assert (value == expected) is False
    assert len({value, own(1)}) == len({expected, other(1)})
    of, by = dataclasses.fields(own), dataclasses.fields(other)
    assert [(f.name, f.init, f.compare, f.repr) for f in of] == [(f.name, f.init, f.compare, f.repr) for f in by]
    for wrong in ((), (1, 2, 3, 4, 5)):
        with pytest.raises(TypeError):
            own(*wrong)
        with pytest.raises(TypeError):
            other(*wrong)


def test_values_are_frozen() -> None:
    value = Point(1)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        value.x = 2
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del value.x
    with pytest.raises(AttributeError):
        value.unknown = 2
    assert value == Point(1)


def test_values_are_made_anew_from_others() -> None:
    changed = dataclasses.replace(Point(1), y=5)
    assert (changed.total, changed.label, changed.seen) == (6, "p", [])
    assert Point(1).seen is not Point(1).seen
    assert copy.copy(changed) == changed == copy.deepcopy(changed)
    assert dataclasses.asdict(Same(4)) == {"value": 4}
    match Derived(1, z=9):
        case Derived(x=1, z=z):
            assert z == 9


@frozen_dataclass.dataclass(frozen=True, slots=True)
class Known:
    name: str


def test_values_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Known("add"))) == Known("add")


def test_dataclasses_derive_from_them() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Wider(Known):
        size: int = 0

    assert Wider("add", 2) == Wider("add", 2)
    with pytest.raises(dataclasses.FrozenInstanceError):
        Wider("add").name = "x"  # type: ignore[misc]


def test_other_dataclasses_are_those_of_the_standard_library() -> None:
    with pytest.raises(TypeError, match="standard library"):
        frozen_dataclass.dataclass(frozen=False, slots=True)
