"""C++ types, which programs may subclass, and parameters of C++ functions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from opgen.api import types
from opgen.frozen_dataclass import dataclass


class _AnyCType(type):
    """Makes all C++ types, including opgen's own, instances of `CType`."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, types.CType) if cls is CType else type.__instancecheck__(cls, value)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, types.CType) if cls is CType else type.__subclasscheck__(cls, other)


class CType(types.CType, metaclass=_AnyCType):
    """A C++ type; subclasses define its spelling in `cpp_type`."""

    __slots__ = ()

    def __getattr__(self, name: str) -> Any:
        """Return the spelling, for opgen's own types around this one."""
        if name in ("spelled", "stripped"):
            return self.cpp_type(strip_ref=name == "stripped")
        raise AttributeError(f"{type(self).__name__} has no attribute '{name}'")


@dataclass(frozen=True, slots=True)
class Binding(types.Binding):
    """A parameter of a C++ function."""

    def rename(self, name: str) -> Binding:
        """Return the same parameter with another C++ name."""
        return Binding(name, self.nctype, self.argument, self.default)

    def with_name(self, name: str) -> Binding:
        return self.rename(name)

    def no_default(self) -> Binding:
        return Binding(self.name, self.nctype, self.argument)


def as_bindings(made: Iterable[types.Binding]) -> list[Binding]:
    """Return opgen's parameters as torchgen's `Binding`s."""
    return [Binding(each.name, each.nctype, each.argument, each.default) for each in made]
