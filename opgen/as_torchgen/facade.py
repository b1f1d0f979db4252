"""A class of opgen's values → a class that torchgen's users can call and use in `isinstance`.

BaseType = facade("BaseType", model.BaseType)
isinstance(Type.parse("Tensor"), BaseType)          # True: `parse` returns opgen's value
FunctionSchema.parse("add(Tensor")                  # an AssertionError, with opgen's message
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import wraps
from inspect import isroutine
from typing import Any

from opgen.as_torchgen.errors import asserted


class Facade(type):
    """The type of such classes: `wrapped` is the class of the values."""

    wrapped: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Create a value."""
        with asserted():
            return cls.make(*args, **kwargs)

    def make(cls, *args: Any, **kwargs: Any) -> Any:
        """Create a value; a facade whose constructor differs from opgen's has its own `make`."""
        return cls.wrapped(*args, **kwargs)

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, cls.wrapped)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other.wrapped if isinstance(other, Facade) else other, cls.wrapped)

    def __getattr__(cls, name: str) -> Any:
        """Return an attribute of the wrapped class; errors in its functions are AssertionErrors."""
        value = getattr(cls.wrapped, name)
        if not isroutine(value):
            return value

        @wraps(value)
        def call(*args: Any, **kwargs: Any) -> Any:
            with asserted():
                return value(*args, **kwargs)

        return call

    # Operations on enumerations.

    def __iter__(cls) -> Iterator[Any]:
        return iter(cls.wrapped)  # type: ignore[call-overload,no-any-return]

    def __len__(cls) -> int:
        return len(cls.wrapped)  # type: ignore[arg-type]

    def __getitem__(cls, name: str) -> Any:
        return cls.wrapped[name]  # type: ignore[index]

    def __contains__(cls, value: object) -> bool:
        return value in cls.wrapped  # type: ignore[operator]


def facade(name: str, wrapped: type, **attributes: Any) -> Any:
    """Return the class `name` that wraps `wrapped`, with these additional attributes."""
    return Facade(name, (), {"wrapped": wrapped, "__doc__": wrapped.__doc__, **attributes})
