"""Frozen dataclasses, as those of Python, of which classes and objects are made in half the time.

What `dataclasses` writes for a frozen class is compiled one method after the other, and sets each
field of each object through `object.__setattr__`, which has to find the slot by its name.  Here the methods are
compiled at once, and the slots are found once.

    @dataclass(frozen=True, slots=True)
    class Binding:
        name: str
        default: str | None = None

`cached_property` is a method that is asked once.

`dataclasses` still works out what the fields are: `fields` and `replace` do what they always do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from functools import cached_property as cached_property
else:

    class cached_property:
        """As Python's own, without the lock that it takes before Python 3.12."""

        def __init__(self, make: Callable[[Any], object]) -> None:
            self.make = make
            self.__doc__ = make.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> object:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.make(instance)
            return value

    def dataclass(*, frozen: bool = False, slots: bool, eq: bool = True) -> Callable[[type[T]], type[T]]:
        """Makes a dataclass with slots of a class; without `eq`, its objects are compared by identity."""
        if not frozen:
            return dataclasses.dataclass(slots=slots, eq=eq)
        return lambda cls: _made(cls, eq)


def _made(cls: type[T], eq: bool) -> type[T]:
    made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    every = fields(made)  # type: ignore[arg-type]  # it is a dataclass now
    scope: dict[str, Any] = {}
    for one in every:
        scope |= {f"set_{one.name}": getattr(made, one.name).__set__, f"default_{one.name}": _default(one)}
    lines = [*_init(every, hasattr(made, "__post_init__")), *(_comparison(every) if eq else ())]
    # As dataclasses do it: functions for any number of fields would take longer than what they replace.
    exec("\n".join(lines), scope)
    methods: dict[str, Any] = dict(_METHODS)
    for name in ("__init__", "__eq__", "__hash__"):
        if name in scope:
            methods[name] = scope[name]
            methods[name].__qualname__ = f"{cls.__qualname__}.{name}"
    for name, method in methods.items():
        if name not in cls.__dict__:
            setattr(made, name, method)
    return made


def _default(one: Field[Any]) -> object:
    return one.default if one.default_factory is MISSING else one.default_factory


def _init(every: Sequence[Field[Any]], has_post_init: bool) -> Iterator[str]:
    yield f"def __init__({', '.join(['self', *(_parameter(one) for one in every if one.init)])}):"
    yield " pass"
    for one in every:
        if one.default_factory is not MISSING:
            made = f"default_{one.name}()"
            yield f" set_{one.name}(self, {f'{made} if {one.name} is None else {one.name}' if one.init else made})"
        elif one.init:
            yield f" set_{one.name}(self, {one.name})"
        elif one.default is not MISSING:
            yield f" set_{one.name}(self, default_{one.name})"
    if has_post_init:
        yield " self.__post_init__()"


def _parameter(one: Field[Any]) -> str:
    if one.default_factory is not MISSING:
        return f"{one.name}=None"
    return one.name if one.default is MISSING else f"{one.name}=default_{one.name}"


def _comparison(every: Sequence[Field[Any]]) -> Iterator[str]:
    compared = [one.name for one in every if one.compare]
    mine, theirs = (f"({''.join([f'{whose}.{name},' for name in compared])})" for whose in ("self", "other"))
    yield "def __eq__(self, other):"
    yield f" return {mine} == {theirs} if other.__class__ is self.__class__ else NotImplemented"
    yield f"def __hash__(self):\n return hash({mine})"


# ------------------------------------------------------------------- what all classes have alike


def _repr(self: object) -> str:
    shown = (one.name for one in fields(self) if one.repr)  # type: ignore[arg-type]
    return f"{type(self).__qualname__}({', '.join([f'{name}={getattr(self, name)!r}' for name in shown])})"


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: object) -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]  # type: ignore[arg-type]


def _restore(self: object, state: Sequence[object]) -> None:
    for one, value in zip(fields(self), state):  # type: ignore[arg-type]
        object.__setattr__(self, one.name, value)


_METHODS: Final[Mapping[str, Callable[..., object]]] = MappingProxyType(
    {
        "__repr__": _repr,
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
)
