"""Names of operators → a value that templates use to check whether an operator exists.

    Presence.of(functions)    →    in a template:  $if has_method.add__Tensor … $endif

A template can thus contain code that calls an operator only if it is defined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from opgen.frozen_dataclass import dataclass
from opgen.model import NativeFunction, Variant
from opgen.program.program import Program


@dataclass(frozen=True, slots=True)
class Presence(Mapping[str, bool]):
    """The existence of operators by name."""

    names: frozenset[str]
    """The C++ names, with the overload: `add__Tensor`."""

    @staticmethod
    def of(functions: Iterable[NativeFunction]) -> Presence:
        """Return the presence of these operators."""
        return Presence(frozenset(function.func.name.unambiguous_name() for function in functions))

    @staticmethod
    def among(program: Program, variant: Variant) -> Presence:
        """Return the presence of the operators of a program that have the variant."""
        functions = (function for function in program.functions if variant in function.variants)
        return Presence(frozenset(function.func.name.unambiguous_name() for function in functions))

    def __getitem__(self, name: str) -> bool:
        return name in self.names

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.names))

    def __len__(self) -> int:
        return len(self.names)
