"""A frozen dataclass with slots → the same class, whose objects are made in half the time.

What dataclasses write for a frozen class sets each field through `object.__setattr__`, which has to find
the slot by its name, for each object anew.  Here the slots are found once.  It is worth it for classes of which
a run makes thousands.

    @fast_init
    @dataclass(frozen=True, slots=True)
    class Binding:
        name: str
        default: str | None = None
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, Field, fields
from typing import Any, TypeVar

T = TypeVar("T")


def fast_init(cls: type[T]) -> type[T]:
    """Gives the class an `__init__` that takes the same arguments and does the same."""
    every = fields(cls)  # type: ignore[arg-type]  # it is one, or this raises
    scope: dict[str, Any] = {}
    for one in every:
        scope |= {f"set_{one.name}": getattr(cls, one.name).__set__, f"default_{one.name}": _default(one)}
    parameters = [_parameter(one) for one in every if one.init]
    lines = [f"def __init__(self, {', '.join(parameters)}):", *_body(every)]
    if hasattr(cls, "__post_init__"):
        lines.append(" self.__post_init__()")
    # As dataclasses do it: a function for any number of fields would take longer than what it replaces.
    exec("\n".join(lines), scope)
    made = scope["__init__"]
    made.__qualname__ = f"{cls.__qualname__}.__init__"
    setattr(cls, "__init__", made)  # noqa: B010 - to a type checker, a method is nothing to assign to
    return cls


def _default(one: Field[Any]) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory


def _parameter(one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return f"{one.name}=None"
    return one.name if one.default is MISSING else f"{one.name}=default_{one.name}"


def _body(every: tuple[Field[Any], ...]) -> Iterator[str]:
    for one in every:
        if one.default_factory is not MISSING:
            made = f"default_{one.name}()"
            value = f"{made} if {one.name} is None else {one.name}" if one.init else made
            yield f" set_{one.name}(self, {value})"
        elif one.init:
            yield f" set_{one.name}(self, {one.name})"
        elif one.default is not MISSING:
            yield f" set_{one.name}(self, default_{one.name})"
