"""What emitters make of each operator, so that a run after an edit need not make all of it again.

A file that is about many operators is put together of *parts*, one for each function or group.  An emitter asks
for them with `Program.of_functions` and its like instead of walking operators itself:

    program.of_functions("plumbing", partial(render_plumbing, program))   →   the part of each function, in order

In most runs that is a plain loop.  A run that follows an edit has a small program, of the operators that the edit
is about, and the parts of all others as former runs kept them.  So what an emitter makes of an operator
may only depend on the operator, those related to it (see `opgen.frontend.changes`), and what is the same for all:
options, templates, the order of dispatch keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Generic, Protocol, TypeAlias, TypeVar, overload

Part: TypeAlias = "str | bool | tuple[Part, ...] | None"
"""Plain values, so that they can be kept in a file and read back without running any code."""
T = TypeVar("T")
V = TypeVar("V", bound=Part)

Placed: TypeAlias = list[tuple[str, Any]]
"""Parts, each with the name of the function whose place among all functions is its place."""


class Former(Protocol):
    """The parts that former runs kept."""

    def places(self, what: str) -> Sequence[str]:
        """Where the parts of a list belong, in the list's order."""

    def is_edited(self, what: str) -> bool:
        """Whether the list was added to since it was kept, so that it isn't in order."""

    def load(self, what: str) -> Placed:
        """The parts of a list."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What makes of the parts of former runs those of this one."""

    former: Former
    lost: frozenset[str]
    """Functions whose parts no longer hold: changed, gone, or related to such."""
    places: Mapping[str, int]
    """Where each function stands now among all of them."""

    def leaves(self, what: str, fresh: Placed) -> bool:
        """Whether a list stays as it was, as can be told without reading it."""
        if fresh or self.former.is_edited(what):
            return False
        names, places = self.former.places(what), self.places
        if not self.lost.isdisjoint(names):
            return False
        now = [places[name] for name in names]
        return all(map(int.__le__, now, now[1:]))

    def merged(self, what: str, fresh: Placed) -> Placed:
        """All parts of a list, in order: those that hold, and the fresh ones."""
        places, lost = self.places, self.lost
        kept = [entry for entry in self.former.load(what) if entry[0] not in lost]
        return sorted(kept + fresh, key=lambda entry: places[entry[0]])


class PartList(Sequence[V], Generic[V]):
    """The parts of a list; those that are as the last run had them are read when someone looks at them."""

    def __init__(self, load: Callable[[], Placed], *, is_same: bool) -> None:
        self._load = load
        self.is_same = is_same
        """Whether the last run had the same list, so that files that are made of it alone are the same."""

    @cached_property
    def _parts(self) -> list[V]:
        return [part for _, part in self._load()]

    def __len__(self) -> int:
        return len(self._parts)

    def __iter__(self) -> Iterator[V]:
        return iter(self._parts)

    @overload
    def __getitem__(self, index: int) -> V: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[V]: ...
    def __getitem__(self, index: int | slice) -> V | Sequence[V]:
        return self._parts[index]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one run."""

    edit: Edit | None = None
    keeps: bool = False
    """Whether the next run is to have them: all of them, or after an edit those that are fresh."""
    keeps_all: bool = True
    """Whether lists with fresh parts are to be kept whole."""
    made: dict[str, Placed] = field(default_factory=dict, repr=False)
    """The lists to be kept, by name."""

    @property
    def are_plain(self) -> bool:
        """Whether parts are of no further use: then nobody need know whose they are."""
        return self.edit is None and not self.keeps

    def each(self, what: str, places: Iterable[str], items: Iterable[T], make: Callable[[T], V]) -> PartList[V]:
        """What `make` gives for each item, in order; what is empty is left out."""
        if self.are_plain:
            plain = [("", part) for item in items if (part := make(item))]
            return PartList(lambda: plain, is_same=False)
        fresh: Placed = [(place, part) for place, item in zip(places, items, strict=True) if (part := make(item))]
        edit = self.edit
        if edit is None:
            self.made[what] = fresh
            return PartList(lambda: fresh, is_same=False)
        if edit.leaves(what, fresh):
            return PartList(lambda: edit.former.load(what), is_same=True)
        merged = edit.merged(what, fresh)
        if self.keeps_all:
            self.made[what] = merged
        elif fresh:
            self.made[what] = fresh
        return PartList(lambda: merged, is_same=False)
