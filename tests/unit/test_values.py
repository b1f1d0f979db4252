"""Objects of classes whose fields are set faster are made as those of any other dataclass."""

from __future__ import annotations

import dataclasses
import pickle
from dataclasses import FrozenInstanceError

import pytest

from opgen.values import cached_property, dataclass, field, fields, replace


@dataclass(frozen=True, slots=True)
class Point:
    """One of every kind of field."""

    x: int
    y: int = 2
    seen: list[int] = field(default_factory=list)
    fixed: str = field(default="always", init=False)
    own: dict[str, int] = field(default_factory=dict, init=False)
    late: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "late", self.x + self.y)


@dataclass(frozen=True, slots=True)
class Spot(Point):
    """With fields of the class that it is made of."""

    name: str = "spot"


def test_fields_have_what_was_given_or_their_defaults() -> None:
    assert repr(Point(1)) == "Point(x=1, y=2, seen=[], fixed='always', own={}, late=3)"
    assert repr(Point(1, seen=[5], y=4)) == "Point(x=1, y=4, seen=[5], fixed='always', own={}, late=5)"
    assert repr(Spot(1, name="here")) == "Spot(x=1, y=2, seen=[], fixed='always', own={}, late=3, name='here')"
    assert Point(1).seen is not Point(1).seen


@dataclass(frozen=True, slots=True)
class Pair:
    """Only what is given."""

    left: int
    right: int


@dataclass(slots=True)
class Tally:
    """What may change."""

    count: int = 0
    seen: list[str] = field(default_factory=list)


def test_they_are_compared_copied_and_frozen() -> None:
    assert Point(1) == Point(1, 2) != Point(2, 2)
    assert Point(1) != Spot(1)
    assert replace(Point(1), y=0) == Point(1, 0)
    assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del Point(1).x


def test_values_of_hashable_fields_are_hashable() -> None:
    @dataclass(frozen=True, slots=True)
    class Name:
        text: str
        place: object = field(default=None, compare=False)

    assert {Name("a", []): 1}[Name("a", {})] == 1
    assert len({Name("a"), Name("b")}) == 2


def test_those_that_may_change_are_not_hashable() -> None:
    tally = Tally()
    tally.count += 1
    assert tally == Tally(1) != Tally()
    assert pickle.loads(pickle.dumps(tally)) == tally
    with pytest.raises(TypeError, match="unhashable"):
        hash(tally)
    with pytest.raises(AttributeError):
        setattr(tally, "other", 1)  # noqa: B010 - a type checker refuses it too


def test_to_others_they_are_dataclasses() -> None:
    assert [one.name for one in dataclasses.fields(Spot)] == [one.name for one in fields(Spot)]
    assert dataclasses.replace(Point(1), y=0) == Point(1, 0)
    assert dataclasses.is_dataclass(Point)

    @dataclasses.dataclass(frozen=True)
    class Place(Pair):
        name: str = "place"

    assert Place(1, 2, "here") == Place(1, 2, name="here") != Place(1, 2)
    assert Place(1, 2).name == "place"


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'fixed'"):
        Point(1, fixed="no")  # type: ignore[call-arg]


class Circle:
    """With something that is worked out when someone asks."""

    def __init__(self) -> None:
        self.asked = 0

    @cached_property
    def area(self) -> int:
        """Worked out once."""
        self.asked += 1
        return 3


def test_a_cached_property_is_worked_out_once_for_each_object() -> None:
    circle = Circle()
    assert (circle.area, circle.area, circle.asked) == (3, 3, 1)
    assert (Circle().area, circle.asked, Circle.area.__doc__) == (3, 1, "Worked out once.")
