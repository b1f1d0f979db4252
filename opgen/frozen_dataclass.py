"""Frozen dataclasses with slots whose classes and values are made in less than half of the time.

    @dataclass(frozen=True, slots=True)
    class Binding:
        name: str
        default: str | None = None

`dataclasses` compiles five methods for such a class one after the other, and each `__init__` sets fields by name
through `object.__setattr__`.  Here `dataclasses` only collects the fields; `__init__`, `__eq__` and `__hash__` are
compiled when they are first called, and `__init__` sets slots through their descriptors.  `docs/performance.md` says
how many milliseconds that saves.  What a class means is unchanged: `fields`, `replace`, `match` and subclasses work,
and to a type checker this is `dataclasses.dataclass`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

T = TypeVar("T")

_MISSING: Final = dataclasses.MISSING


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(*, frozen: bool, slots: bool, eq: bool = True) -> Callable[[type[T]], type[T]]:
        """Return what makes a frozen dataclass with slots; without `eq`, values are compared by identity."""
        if not (frozen and slots):
            raise TypeError("other dataclasses than frozen ones with slots are those of the standard library")
        return lambda cls: _make(cls, eq=eq)


def _make(cls: type[T], *, eq: bool) -> type[T]:
    """Return the class anew, with slots and with the methods that it doesn't define itself."""
    own, made = vars(cls), _collect_fields(cls)
    methods = {**_METHODS, "__init__": _compile_late(made, "__init__", _init)}
    if eq:
        methods["__eq__"] = _compile_late(made, "__eq__", _eq)
        methods["__hash__"] = _compile_late(made, "__hash__", _hash)
    for name, method in methods.items():
        if own.get(name) is None:  # Python sets __hash__ to None where __eq__ is defined
            setattr(made, name, method)
    made.__dataclass_params__.frozen, made.__dataclass_params__.eq = True, eq  # type: ignore[attr-defined]
    return made


def _collect_fields(cls: type[T]) -> type[T]:
    """Return the class as a dataclass with slots, without methods."""
    every = [getattr(base, "__dataclass_params__", None) for base in cls.__mro__]
    frozen = [params for params in every if params is not None and params.frozen]
    # To `dataclasses` this class isn't frozen, and so its bases must not be either.
    for params in frozen:
        params.frozen = False
    try:
        return dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    finally:
        for params in frozen:
            params.frozen = True


_Scope: TypeAlias = "dict[str, Any]"


def _compile_late(cls: type, name: str, write: Callable[[type, _Scope], str]) -> Callable[..., Any]:
    """Return a method that compiles itself when it is first called; that of many classes never is."""

    def first_call(*args: Any, **kwargs: Any) -> Any:
        scope: _Scope = {}
        exec(write(cls, scope), scope)
        method: Callable[..., Any] = scope[name]
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method(*args, **kwargs)

    return first_call


def _init(cls: Any, scope: _Scope) -> str:
    parameters, lines = ["self"], []
    scope["MISSING"] = _MISSING
    for field in dataclasses.fields(cls):
        name, value, default = field.name, field.name, ""
        if field.default_factory is not _MISSING:
            scope[f"make_{name}"] = field.default_factory
            value = f"make_{name}() if {name} is MISSING else {name}" if field.init else f"make_{name}()"
            default = "=MISSING"
        elif field.default is not _MISSING:
            scope[f"default_{name}"] = field.default
            value, default = (name, f"=default_{name}") if field.init else (f"default_{name}", "")
        elif not field.init:
            continue  # __post_init__ sets it
        scope[f"set_{name}"] = getattr(cls, name).__set__
        lines.append(f"set_{name}(self, {value})")
        parameters += [name + default] * field.init
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return f"def __init__({', '.join(parameters)}): {'; '.join(lines) or 'pass'}"


def _eq(cls: type, scope: _Scope) -> str:
    same = f"{_compared(cls, 'self')} == {_compared(cls, 'other')}"
    return f"def __eq__(self, other): return {same} if other.__class__ is self.__class__ else NotImplemented"


def _hash(cls: type, scope: _Scope) -> str:
    return f"def __hash__(self): return hash({_compared(cls, 'self')})"


def _compared(cls: Any, value: str) -> str:
    """Return the expression for the tuple of all fields of `value` that count for equality."""
    return f"({''.join([f'{value}.{field.name}, ' for field in dataclasses.fields(cls) if field.compare])})"


def _repr(self: Any) -> str:
    shown = [f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr]
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_to_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _get_state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: Sequence[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_METHODS: Final[Mapping[str, Callable[..., Any]]] = MappingProxyType(
    {
        "__repr__": _repr,
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _get_state,
        "__setstate__": _set_state,
    }
)
