"""What emitters make of each operator, so that a run after an edit need not make all of it again.

A file that is about many operators is put together of *parts*, one for each function or group.  An emitter asks
for them with `Program.of_functions` and its like instead of walking operators itself:

    program.of_functions("vmap", partial(render_plumbing, program))   →   the part of each function, in order

In most runs that is a plain loop.  A run that follows an edit has a small program, of the operators that the edit
is about, and the parts of all others as a former run kept them.  So what an emitter makes of an operator
may only depend on the operator, those related to it (see `opgen.frontend.changes`), and what is the same for all:
options, templates, the order of dispatch keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import TypeAlias, TypeVar

from opgen.values import dataclass

Part: TypeAlias = "str | bool | tuple[Part, ...] | None"
"""Plain values, so that they can be kept in a file and read back without running any code."""
T = TypeVar("T")
V = TypeVar("V", bound=Part)

Placed: TypeAlias = list[tuple[str, Part]]
"""Parts in order, each with the name of the function whose place among all functions is its place."""


@dataclass(frozen=True, slots=True)
class Former:
    """The parts of a former run, as far as they hold."""

    load: Callable[[str], Placed]
    """The parts of one list, by the list's name."""
    lost: frozenset[str]
    """Functions whose parts no longer hold: changed, gone, or related to such."""
    places: Mapping[str, int]
    """Where each function stands now among all of them."""

    def merged(self, what: str, fresh: Placed) -> Placed:
        """All parts of a list, in order: those that hold, and the fresh ones."""
        kept = [entry for entry in self.load(what) if entry[0] not in self.lost]
        places = self.places
        return sorted(kept + fresh, key=lambda entry: places[entry[0]])


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one run."""

    former: Former | None = None
    keeps: bool = False
    """Whether the next run is to have them."""
    made: dict[str, Placed] = field(default_factory=dict, repr=False)
    """The lists made so far, by name, if they are to be kept."""

    @property
    def are_plain(self) -> bool:
        """Whether parts are of no further use: then nobody need know whose they are."""
        return self.former is None and not self.keeps

    def each(self, what: str, places: Iterable[str], items: Iterable[T], make: Callable[[T], V]) -> list[V]:
        """What `make` gives for each item, in order; what is empty is left out."""
        if self.are_plain:
            return [part for item in items if (part := make(item))]
        found: list[tuple[str, V]] = [
            (place, part) for place, item in zip(places, items, strict=True) if (part := make(item))
        ]
        if self.former is not None:
            found = self.former.merged(what, found)  # type: ignore[assignment,arg-type]
        if self.keeps:
            self.made[what] = found  # type: ignore[assignment]
        return [part for _, part in found]
