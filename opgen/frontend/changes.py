r"""Two versions of a definitions file → a program of the operators that differ, and where all others stand.

A *history* is what is remembered of a file: each entry's text, and what it defines.  From it and the file as it is
now follows which families of operators an edit is about.  Operators are a *family* if what is written for one may
depend on the other: all forms and overloads of a name, a view and its `_copy`, and whatever entries name.

    history = describe(program)                  of a file that was read whole
    change = find_change(history, text, load)    →   Change(program of a few operators, lost, places, history)

None is the answer to everything that isn't plain: then the file must be read whole.  So only files count that are
lists of entries, each beginning with `- ` at the start of a line, and no mistake is ever reported from here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final, NamedTuple

from opgen.diagnostics import Source
from opgen.dispatch_keys import DispatchKey
from opgen.frontend.native_functions import backend_index
from opgen.frozen_map import FrozenMap
from opgen.model import BackendIndex, BaseOperatorName, NativeFunction, NativeFunctionsGroup, SchemaError
from opgen.program.program import Program

MOST_CHANGED: Final = 150
"""Most entries that are read apart; to read all of a file takes little longer than more of them."""

_ENTRY: Final = re.compile(r"^-(?=\s)", re.MULTILINE)
_ANCHOR: Final = re.compile(r"&\w")
_NAME: Final = re.compile(r"-[ \t]+func:[ \t]+[\"']?(?:\w+::)?(\w+)", re.ASCII)
_RELATED_ENDS: Final = ("_copy", "_scatter", "_inverse")
"""What names of views and of what is derived from them end in."""


class Written(NamedTuple):
    """An entry, as text and by what it defines."""

    text: str
    """Up to the next entry, comments included."""
    name: str
    """With the overload, without the namespace."""
    namespace: str
    family: str
    related: tuple[str, ...]
    """Other families, those of operators that the entry names."""
    keys: tuple[str, ...]
    """The dispatch keys that it has kernels under."""


class Made(NamedTuple):
    """An operator that was derived."""

    name: str
    namespace: str
    family: str
    place: str
    """The written operator whose place among groups is its group's."""


@dataclass(frozen=True, slots=True)
class History:
    """A definitions file that was read without a mistake."""

    entries: tuple[Written, ...]
    derived: tuple[Made, ...]
    keys: tuple[str, ...]
    """All dispatch keys, in the order in which they first come up."""


@dataclass(frozen=True, slots=True)
class Change:
    """What an edit is about."""

    program: Program
    """The operators of all families that the edit is about; perhaps none."""
    families: frozenset[str]
    lost: frozenset[str]
    """The operators of these families, as they were before."""
    places: Mapping[str, int]
    """Where every operator stands now."""
    history: History


def family_of(root_name: str) -> str:
    """The family of operators with this name."""
    while root_name.endswith(_RELATED_ENDS):
        root_name = root_name[: root_name.rindex("_")]
    return root_name


# --------------------------------------------------------------------------- one version


def describe(program: Program) -> History | None:
    """What to remember of the file that a program was read from; None if its entries can't be told apart by text."""
    source = program.functions[0].loc.source if program.functions else Source("", "")
    head, texts = _split(source.text)
    written, made = program.functions[: len(texts)], program.functions[len(texts) :]
    if not _is_plain(head, source.text) or len(written) < len(texts):
        return None
    starts = [len(head)]
    for text in texts[:-1]:
        starts.append(starts[-1] + len(text))
    if any(bisect_right(starts, f.loc.start) != at + 1 for at, f in enumerate(written)):
        return None
    keys = _keys_by_name(program)
    places = _places_of_groups(program)
    return History(
        tuple(_written(text, function, keys) for text, function in zip(texts, written, strict=True)),
        tuple(Made(str(f.func.name), f.namespace, family_of(f.root_name), places[str(f.func.name)]) for f in made),
        tuple(map(str, program.backend_indices)),
    )


def _split(text: str) -> tuple[str, list[str]]:
    """What comes before the first entry, and the entries."""
    starts = [found.start() for found in _ENTRY.finditer(text)]
    ends = [*starts[1:], len(text)]
    return text[: starts[0]] if starts else text, [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _is_plain(head: str, text: str) -> bool:
    """Whether no entry can depend on what is written above it."""
    has_anchors = "&" in text and _ANCHOR.search(text) is not None
    return not has_anchors and all(not line.strip() or line.startswith("#") for line in head.splitlines())


def _written(text: str, function: NativeFunction, keys: Mapping[str, tuple[str, ...]]) -> Written:
    own, name = family_of(function.root_name), str(function.func.name)
    named = (*function.autogen, *((function.structured_delegate,) if function.structured_delegate is not None else ()))
    related = {family_of(other.name.base) for other in named} - {own}
    return Written(text, name, function.namespace, own, tuple(sorted(related)), keys.get(name, ()))


def _keys_by_name(program: Program) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for key, index in program.backend_indices.items():
        for name in index.index:
            text = str(name)
            found[text] = (*found.get(text, ()), str(key))
    return found


def _places_of_groups(program: Program) -> dict[str, str]:
    """For each function, the one whose place is that of their group."""
    found: dict[str, str] = {}
    for place, item in zip(program.grouped_places, program.grouped, strict=True):
        for form in item.functions() if isinstance(item, NativeFunctionsGroup) else (item,):
            found[str(form.func.name)] = place
    return found


# --------------------------------------------------------------------------- two versions


def find_change(history: History, source: Source, load: Callable[[Source], Program | None]) -> Change | None:
    """What an edit that made `source` of the file of `history` is about; None if the file must be read whole.

    `load` reads definitions, and gives None if it has anything to say about them.
    """
    head, texts = _split(source.text)
    families = _changed_families(history, texts) if _is_plain(head, source.text) else None
    if families is None:
        return None
    known = {entry.text: entry for entry in history.entries}
    for _ in range(3):  # families that new entries name may add some more
        families = _with_related(history, families)
        apart = [text for text in texts if text not in known or known[text].family in families]
        if len(apart) > MOST_CHANGED:
            return None
        program = load(Source(source.name, "".join(apart) or "[]\n"))
        now = None if program is None else _describe_part(program, apart)
        if program is None or now is None:
            return None
        mentioned = {name for entry in now.entries for name in (entry.family, *entry.related)}
        if mentioned <= families:
            return _change(history, texts, program, now, families)
        families |= mentioned
    return None


def _changed_families(history: History, texts: Sequence[str]) -> frozenset[str] | None:
    """The families whose entries aren't the same ones in the same order; None if that can't be told."""
    family_by_text = {entry.text: entry.family for entry in history.entries}
    before: dict[str, list[str]] = {}
    after: dict[str, list[str]] = {}
    for entry in history.entries:
        before.setdefault(entry.family, []).append(entry.text)
    for text in texts:
        family = family_by_text.get(text) or _family_by_name(text)
        if family is None:
            return None
        after.setdefault(family, []).append(text)
    return frozenset(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


def _family_by_name(text: str) -> str | None:
    """The family of the operator that an entry seems to define, before it is read."""
    found = _NAME.match(text)
    try:
        return family_of(BaseOperatorName.parse(found[1]).base) if found else None
    except SchemaError:
        return None


def _with_related(history: History, families: frozenset[str]) -> frozenset[str]:
    """The families and all that name them or are named by them."""
    links = [{entry.family, *entry.related} for entry in history.entries if entry.related]
    while True:
        more = families.union(*(link for link in links if not link.isdisjoint(families)))
        if more == families:
            return families
        families = more


def _describe_part(program: Program, texts: Sequence[str]) -> History | None:
    """The history of some entries; they must be what their texts seem to be."""
    if not program.functions:
        return History((), (), ()) if not texts else None
    found = describe(program)
    return found if found is not None and [entry.text for entry in found.entries] == list(texts) else None


def _change(
    history: History, texts: Sequence[str], program: Program, now: History, families: frozenset[str]
) -> Change | None:
    """Puts the entries that were read apart among the others."""
    entries_now = {entry.text: entry for entry in chain(history.entries, now.entries)}
    entries = tuple(entries_now[text] for text in texts)
    order = {entry.name: at for at, entry in enumerate(entries)}
    derived = (*(made for made in history.derived if made.family not in families), *now.derived)
    if any(made.place not in order for made in derived):
        return None
    derived = tuple(sorted(derived, key=lambda made: order[made.place]))
    keys = _keys_in_order(history, entries, derived)
    names = [entry.name for entry in chain[Written | Made](entries, derived)]
    if keys != history.keys or not _are_distinct(chain(entries, derived)):
        return None
    lost = (entry.name for entry in chain[Written | Made](history.entries, history.derived) if entry.family in families)
    return Change(
        _with_all_keys(program, keys),
        families,
        frozenset(lost),
        {name: at for at, name in enumerate(names)},
        History(entries, derived, keys),
    )


def _are_distinct(operators: Iterable[Written | Made]) -> bool:
    """Whether all operators have names of their own, as they are written and in C++."""
    names, spelled, count = set(), set(), 0
    for operator in operators:
        count += 1
        names.add(operator.name)
        spelled.add((operator.namespace, operator.name.replace(".", "_")))
    return len(names) == len(spelled) == count


def _keys_in_order(history: History, entries: Iterable[Written], derived: Iterable[Made]) -> tuple[str, ...] | None:
    """The dispatch keys in the order in which they first come up; None if that can't be told."""
    found: dict[str, None] = {}
    old = set(history.entries)
    for entry in entries:
        fresh = [key for key in entry.keys if key not in found]
        if len(fresh) > 1 and entry not in old:
            return None  # in which order the entry has them isn't remembered
        found.update(dict.fromkeys(fresh))
    if any(True for _ in derived):
        found.setdefault(str(DispatchKey.CompositeExplicitAutograd))
    return tuple(found)


def _with_all_keys(program: Program, keys: Iterable[str]) -> Program:
    """The program with an index for each key, in their order; most of them are without kernels."""
    return replace(program, backend_indices=FrozenMap(_indices(program, keys)))


def _indices(program: Program, keys: Iterable[str]) -> Iterator[tuple[DispatchKey, BackendIndex]]:
    by_name = {str(key): key for key in DispatchKey}
    for name in keys:
        key = by_name[name]
        yield key, program.backend_indices.get(key) or backend_index(key, {})
