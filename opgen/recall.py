"""What a run keeps for the next one, beside its manifest: the parts of its files, and the history of its definitions.

    put_parts(…), put_run(…)    in a run: .opgen-parts/…/, a file for each list of parts, and one for all else
    recall(…)                   before one: a program of a few operators and the parts of all others

That is of use if nothing but definitions has changed.  A run after an edit adds its fresh parts to the file `run`;
after some such runs, lists that were added to are written anew.

Nothing that is kept is trusted for being there.  The manifest has a digest of each of these files, of every
input and of every output; whatever isn't as it says makes the run a whole one.  The files hold plain values
(strings, numbers and tuples of them) in the format of `marshal`: to read one runs no code that it brings.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from opgen.command_line import Request
from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend.changes import Change, History, Made, Written, describe, family_of, find_change
from opgen.frontend.nodes import read_source
from opgen.output.manifest import Record, is_unchanged
from opgen.output.writer import Placed, Target, remove_folder
from opgen.parts import Edit, Parts
from opgen.parts import Placed as PlacedParts
from opgen.program.program import Program
from opgen.run.inputs import Inputs

FOLDER: Final = ".opgen-parts"
"""Its name, in the install directory."""
WORTH_KEEPING: Final = 300
"""Operators from which on it pays to keep parts."""
MOST_EDITS: Final = 12
"""After so many edits, lists are written anew."""
_OURS: Final = re.compile(r"[0-9a-f]{12}")
"""What folders in it are called."""
_RUN: Final = "run"
"""The file that isn't a list of parts."""
_SHIMS: Final = "aoti"
"""The root of files that stay as they are, or not at all."""

_Files: TypeAlias = Mapping[str, tuple[str, ...]]
"""The files that are about one operator alone, by its name; those of shims under no name."""
_Edits: TypeAlias = "tuple[tuple[frozenset[str], Mapping[str, PlacedParts]], ...]"
"""Which functions lost their parts in each edit, and the parts that came."""
_Load: TypeAlias = Callable[[Inputs, Request, Diagnostics], Program | None]


class LostPartsError(Exception):
    """What was kept can't be read after all."""


@dataclass(frozen=True, slots=True)
class Memory:
    """What there is to know of a run besides parts."""

    history: History
    files: _Files
    shimmed: frozenset[str]
    """Families of operators that have C functions."""
    edits: _Edits = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is left to do after an edit."""

    program: Program
    change: Change
    before: Memory
    standing: _Files
    """The files that are as they should be."""

    @property
    def standing_paths(self) -> list[str]:
        """Their paths."""
        return [path for paths in self.standing.values() for path in paths]

    def memory(self, placed: Iterable[Placed], made: Mapping[str, PlacedParts]) -> Memory:
        """What to remember when the run is over."""
        files = {**self.standing, **_files_of(placed)}
        edits = () if self.program.parts.keeps_all else (*self.before.edits, (self.change.lost, made))
        return Memory(self.change.history, files, self.before.shimmed, edits)


def keeps_parts(request: Request) -> bool:
    """Whether a run of this kind keeps parts: lines of the definitions and selections would make them useless."""
    options = request.options
    selects = request.selected_names is not None or request.selection_path is not None
    talks = request.verbose or options.output_dependencies is not None
    return options.per_operator_headers and not (options.dry_run or selects or talks)


def folder_of(record: Record) -> str:
    """The folder below the install directory for the parts of runs with these flags."""
    name = hashlib.sha256(f"{record.options}\n{record.folder}".encode()).hexdigest()[:12]
    return f"{FOLDER}/{name}"


# --------------------------------------------------------------------------- before a run


def recall(former: Record, request: Request, inputs: Inputs, load: _Load) -> Recalled | None:
    """What an edit of the definitions leaves to do; None if a former run is of no help."""
    definitions = os.fspath(inputs.functions) if isinstance(inputs.functions, Path) else ""
    if definitions not in former.inputs or not former.kept:
        return None
    if definitions in former.said or former.quiet is not request.quiet:
        return None  # what there is to be said besides would have to be found again
    others = (each for each in former.inputs.items() if each[0] != definitions)
    states = (*former.kept.items(), *others, *former.outputs.items())
    if not all(is_unchanged(path, state) for path, state in states):
        return None
    folder = os.path.join(request.options.install_dir, folder_of(former))
    memory = _read_memory(os.path.join(folder, _RUN))
    try:
        source = read_source(Path(definitions))
    except UserError:
        return None
    change = find_change(memory.history, source, _loader(inputs, request, load))
    if change is None or not change.families.isdisjoint(memory.shimmed):
        return None
    edit = Edit(KeptParts(folder, memory.edits), change.lost, change.places)
    parts = Parts(edit, keeps=True, keeps_all=len(memory.edits) >= MOST_EDITS)
    standing = {
        name: paths for name, paths in memory.files.items() if not name or family_of(name) not in change.families
    }
    return Recalled(replace(change.program, parts=parts), change, memory, standing)


def _loader(inputs: Inputs, request: Request, load: _Load) -> Callable[[Source], Program | None]:
    """Reads some entries; None if there is anything to be said about them."""

    def load_quietly(source: Source) -> Program | None:
        log = Diagnostics()
        program = load(replace(inputs, functions=source), request, log)
        is_plain = all(each.severity == "remark" for each in log.found)
        return program if program is not None and is_plain and not _shimmed(program) else None

    return load_quietly


class KeptParts:
    """The parts in a folder."""

    def __init__(self, folder: str, edits: _Edits) -> None:
        self._folder = folder
        self._edits = edits

    def places(self, what: str) -> Sequence[str]:
        """Where the parts of a list belong, in the list's order, without the edits since."""
        with self._open(what) as file:
            return tuple(_loaded(lambda: marshal.load(file)))

    def is_edited(self, what: str) -> bool:
        """Whether the list was added to since it was kept, so that it isn't in order."""
        if not self._edits:
            return False
        places = self.places(what)
        return any(what in fresh or not lost.isdisjoint(places) for lost, fresh in self._edits)

    def load(self, what: str) -> PlacedParts:
        """The parts of a list."""
        with self._open(what) as file:
            places = _loaded(lambda: marshal.load(file))
            found: PlacedParts = list(zip(places, _loaded(lambda: marshal.load(file)), strict=True))
        for lost, fresh in self._edits:
            found = [entry for entry in found if entry[0] not in lost]
            found += fresh.get(what, ())
        return found

    def _open(self, what: str) -> Any:
        return _loaded(lambda: open(os.path.join(self._folder, _file_name(what)), "rb"))


def _loaded(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except (OSError, ValueError, EOFError, TypeError) as error:
        raise LostPartsError from error


def _read_memory(path: str) -> Memory:
    with _loaded(lambda: open(path, "rb")) as file:
        found = _loaded(lambda: marshal.load(file))
    try:
        entries, derived, keys, files, shimmed, edits = found
        return Memory(
            History(tuple(map(Written._make, entries)), tuple(map(Made._make, derived)), keys),
            dict(files),
            frozenset(shimmed),
            tuple((frozenset(lost), {what: list(parts) for what, parts in fresh}) for lost, fresh in edits),
        )
    except (TypeError, ValueError) as error:
        raise LostPartsError from error


# --------------------------------------------------------------------------- in a run


def put_parts(target: Target, program: Program, folder: str, share: int) -> list[Placed]:
    """Writes the lists of parts that were made since the last call to where they wait."""
    made = take_parts(program)
    return [
        target.put_data(f"{folder}/{_file_name(what)}", _dumped_parts(parts), f"{share}-parts-{at}")
        for at, (what, parts) in enumerate(made.items())
    ]


def take_parts(program: Program) -> dict[str, PlacedParts]:
    """The lists of parts that were made since the last call."""
    made = dict(program.parts.made)
    program.parts.made.clear()
    return made


def memory_of(program: Program, placed: Iterable[Placed]) -> Memory | None:
    """What to remember of a run that made everything; None if it can't be made use of."""
    history = describe(program)
    return None if history is None else Memory(history, _files_of(placed), _shimmed(program))


def put_memory(target: Target, memory: Memory, folder: str) -> Placed:
    """Writes what there is to remember to where it waits."""
    history = memory.history
    edits = tuple(
        (tuple(lost), tuple((what, tuple(parts)) for what, parts in fresh.items())) for lost, fresh in memory.edits
    )
    value = (
        tuple(map(tuple, history.entries)),
        tuple(map(tuple, history.derived)),
        history.keys,
        tuple(memory.files.items()),
        tuple(memory.shimmed),
        edits,
    )
    return target.put_data(f"{folder}/{_RUN}", _dumped(value), "run")


def _files_of(placed: Iterable[Placed]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for file in placed:
        if file.operator or file.root == _SHIMS:
            found.setdefault(file.operator, []).append(file.path)
    return {name: tuple(paths) for name, paths in found.items()}


def _shimmed(program: Program) -> frozenset[str]:
    operators = (*program.shims.any_device, *program.shims.per_device)
    return frozenset(family_of(operator.function.root_name) for operator in operators)


def _dumped_parts(parts: PlacedParts) -> bytes:
    return _dumped(tuple([place for place, _ in parts])) + _dumped(tuple([part for _, part in parts]))


def _dumped(value: Any) -> bytes:
    # Version 2 doesn't look for values that come twice, which takes longer than to write them.
    return marshal.dumps(value, 2)


def _file_name(what: str) -> str:
    return what.replace(" ", "-")


def remove_unused(install_dir: str | os.PathLike[str], folders: Iterable[str]) -> None:
    """Removes the parts of runs that the manifest is no longer about."""
    used = set(map(os.path.basename, folders))
    base = os.path.join(install_dir, FOLDER)
    # What isn't named as ours is, or lies behind a link, is none of our business.
    for name in os.listdir(base) if os.path.isdir(base) and not os.path.islink(base) else ():
        if name not in used and _OURS.fullmatch(name):
            remove_folder(os.path.join(base, name))
