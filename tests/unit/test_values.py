"""Objects of classes whose fields are set faster are made as those of any other dataclass."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError, field, replace

import pytest

from opgen.values import cached_property, dataclass


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


def test_they_are_dataclasses_as_before() -> None:
    assert Point(1) == Point(1, 2)
    assert replace(Point(1), y=0) == Point(1, 0)
    assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
    with pytest.raises(FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]


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
