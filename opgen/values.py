"""Frozen dataclasses, as those of Python, of which classes and objects are made in a fraction of the time.

What `dataclasses` writes for a frozen class is compiled one method after the other, and sets each
field of each object through `object.__setattr__`, which has to find the slot by its name.  Here the slots are
found once, and methods that compare are compiled when objects of a class are first compared, which those of
most never are.  `dataclasses` itself, and all that it imports, isn't needed.

    @dataclass(frozen=True, slots=True)
    class Binding:
        name: str
        default: str | None = None

`cached_property` is a method that is asked once.

To others such a class is a dataclass: `dataclasses.fields` and `dataclasses.replace` work.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

T = TypeVar("T")


class _Missing:
    """What a field has for a default that has none."""


class Field:
    """What a class says of one of its fields beyond its type."""

    __slots__ = ("compare", "default", "default_factory", "init", "name", "repr")

    def __init__(
        self,
        *,
        default: Any = _Missing,
        default_factory: Any = _Missing,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
    ) -> None:
        """Takes what `dataclasses.field` does."""
        self.name = ""
        self.default, self.default_factory = default, default_factory
        self.init, self.repr, self.compare = init, repr, compare


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
    from functools import cached_property as cached_property
else:
    field = Field

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
        return lambda cls: _made(cls, frozen=frozen, eq=eq)

    def replace(value: T, /, **changes: Any) -> T:
        """Another object of the class, with other values of some fields."""
        for name in value.__match_args__:
            if name not in changes:
                changes[name] = getattr(value, name)
        return value.__class__(**changes)


def fields(value: object) -> tuple[Field, ...]:
    """The fields of an object, or of its class."""
    found: tuple[Field, ...] = value.__fields__  # type: ignore[attr-defined]  # _made() sets it
    return found


# --------------------------------------------------------------------------------- classes


def _made(cls: type[T], *, frozen: bool, eq: bool) -> type[T]:
    """The class anew, with slots and with the methods that it doesn't define itself."""
    inherited = {one.name: one for base in reversed(cls.__mro__[1:]) for one in base.__dict__.get("__fields__", ())}
    own = {name: _own_field(name, cls.__dict__.get(name, _Missing)) for name in cls.__annotations__}
    every = tuple({**inherited, **own}.values())
    defined = {name: value for name, value in cls.__dict__.items() if name not in own and name not in _NOT_COPIED}
    members = {
        **(_METHODS_OF_FROZEN if frozen else _METHODS),
        **defined,
        "__slots__": tuple(name for name in own if name not in inherited),
        "__qualname__": cls.__qualname__,
        "__fields__": every,
        "__match_args__": tuple(one.name for one in every if one.init),
        "__dataclass_fields__": _Described("__dataclass_fields__", frozen=frozen, eq=eq),
        "__dataclass_params__": _Described("__dataclass_params__", frozen=frozen, eq=eq),
    }
    metaclass: Callable[..., type[T]] = type(cls)
    made = metaclass(cls.__name__, cls.__bases__, members)
    methods: dict[str, Any] = {"__init__": _init(made, every, frozen=frozen)}
    if eq:
        methods["__eq__"] = _compiled_late(made, "__eq__", _equality)
        methods["__hash__"] = _compiled_late(made, "__hash__", _hash) if frozen else None
    for name, method in methods.items():
        if name not in defined:
            setattr(made, name, method)
    return made


_NOT_COPIED: Final = ("__dict__", "__weakref__")


def _own_field(name: str, given: object) -> Field:
    found = given if isinstance(given, Field) else Field(default=given)
    found.name = name
    return found


class _Described:
    """What `dataclasses` keeps of a class, which is worked out when something asks."""

    def __init__(self, what: str, *, frozen: bool, eq: bool) -> None:
        self._what, self._flags = what, {"frozen": frozen, "eq": eq}

    def __get__(self, value: object, cls: type) -> Any:
        dataclasses = importlib.import_module("dataclasses")
        described = [(one.name, Any, dataclasses.field(**_said(one))) for one in fields(cls)]
        return getattr(dataclasses.make_dataclass(cls.__name__, described, **self._flags), self._what)


def _said(one: Field) -> dict[str, Any]:
    """The arguments of `field` that give such a field."""
    said = {name: getattr(one, name) for name in ("default", "default_factory", "init", "repr", "compare")}
    return {name: value for name, value in said.items() if value is not _Missing}


# --------------------------------------------------------------------------------- methods


def _compiled(cls: type, name: str, lines: Iterable[str], scope: dict[str, Any]) -> Callable[..., Any]:
    """The method of a class that these lines define."""
    # As dataclasses do it: a function for any number of fields would take longer than what it replaces.
    exec("\n".join(lines), scope)
    method: Callable[..., Any] = scope[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _compiled_late(cls: type, name: str, lines: Callable[[str], Iterable[str]]) -> Callable[..., Any]:
    """A method that is compiled when it is first called; that of most classes never is."""

    def first_call(*arguments: object) -> Any:
        values = "".join([f"{{0}}.{one.name}," for one in fields(cls) if one.compare])
        method = _compiled(cls, name, lines(f"({values})"), {})
        setattr(cls, name, method)
        return method(*arguments)

    return first_call


def _equality(values: str) -> Iterator[str]:
    yield "def __eq__(self, other):"
    yield " if self is other: return True"  # as values that are shared mostly are
    mine, theirs = values.format("self"), values.format("other")
    yield f" return {mine} == {theirs} if other.__class__ is self.__class__ else NotImplemented"


def _hash(values: str) -> Iterator[str]:
    yield f"def __hash__(self):\n return hash({values.format('self')})"


def _init(cls: type, every: Sequence[Field], *, frozen: bool) -> Callable[..., None]:
    given = [one for one in every if one.init]
    # Fields that are not given are left to the class, unless they have a value to begin with.
    is_plain = all(one.default_factory is _Missing and (one.init or one.default is _Missing) for one in every)
    has_post_init = hasattr(cls, "__post_init__")
    known = _INITS_WITH_MORE if has_post_init else _PLAIN_INITS
    if frozen and is_plain and len(given) < len(known):
        return _renamed(known[len(given)], cls, given)
    scope: dict[str, Any] = {}
    for one in every:
        scope[f"default_{one.name}"] = one.default if one.default_factory is _Missing else one.default_factory
        if frozen:
            scope[f"set_{one.name}"] = getattr(cls, one.name).__set__
    assignment = " set_{0}(self, {1})" if frozen else " self.{0} = {1}"
    lines = [f"def __init__({', '.join(['self', *(_parameter(one) for one in every if one.init)])}):", " pass"]
    lines += [assignment.format(one.name, value) for one in every if (value := _initial_value(one))]
    if has_post_init:
        lines.append(" self.__post_init__()")
    return _compiled(cls, "__init__", lines, scope)


def _plain_inits(most: int, last: str) -> Iterator[CodeType]:
    """The code of `__init__` for a class of no fields, of one, of two …: that of others only has other names."""
    for count in range(most):
        parameters = "".join([f", _{at}" for at in range(count)])
        statements = "; ".join([*[f"set_{at}(self, _{at})" for at in range(count)], last])
        scope: dict[str, Any] = {}
        exec(f"def __init__(self{parameters}): {statements}", scope)
        yield scope["__init__"].__code__


_PLAIN_INITS: Final = tuple(_plain_inits(8, "pass"))
_INITS_WITH_MORE: Final = tuple(_plain_inits(6, "self.__post_init__()"))
"""Of classes that work something out of their fields."""


def _renamed(code: CodeType, cls: type, given: Sequence[Field]) -> Callable[..., None]:
    """The `__init__` of a class that is given these fields, as it would be compiled."""
    code = code.replace(co_varnames=("self", *(one.name for one in given)))
    setters = {f"set_{at}": getattr(cls, one.name).__set__ for at, one in enumerate(given)}
    defaults = tuple(one.default for one in given if one.default is not _Missing)
    init = FunctionType(code, setters, "__init__", defaults)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _parameter(one: Field) -> str:
    if one.default_factory is not _Missing:
        return f"{one.name}=None"
    return one.name if one.default is _Missing else f"{one.name}=default_{one.name}"


def _initial_value(one: Field) -> str:
    """What a field is set to at first; nothing if that is left to the class."""
    if one.default_factory is not _Missing:
        made = f"default_{one.name}()"
        return f"{made} if {one.name} is None else {one.name}" if one.init else made
    if one.init:
        return one.name
    return "" if one.default is _Missing else f"default_{one.name}"


# ------------------------------------------------------------------- what all classes have alike


def _repr(self: object) -> str:
    shown = [f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr]
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise _frozen_error()(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise _frozen_error()(f"cannot delete field {name!r}")


def _frozen_error() -> type[Exception]:
    error: type[Exception] = importlib.import_module("dataclasses").FrozenInstanceError
    return error


def _state(self: object) -> list[object]:
    return [getattr(self, one.name) for one in fields(self)]


def _restore(self: object, state: Sequence[object]) -> None:
    for one, value in zip(fields(self), state):
        object.__setattr__(self, one.name, value)


_METHODS: Final[Mapping[str, Callable[..., object]]] = MappingProxyType({"__repr__": _repr, "__replace__": replace})
_METHODS_OF_FROZEN: Final[Mapping[str, Callable[..., object]]] = MappingProxyType(
    {
        **_METHODS,
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state,
        "__setstate__": _restore,
    }
)
