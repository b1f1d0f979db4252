"""What a run keeps for the next one, beside its manifest: the parts of its files, and the history of its definitions.

    keep(…)      after a run: .opgen-parts/…/, a file for each list of parts
    recall(…)    before one: a program of a few operators and all other parts, if only definitions have changed

Nothing that is kept is trusted for being there.  The manifest has a digest of each of these files, of every
input and of every output; whatever isn't as it says makes the run a whole one.  The files hold plain values
(strings, numbers and tuples of them) in the format of `marshal`: to read one runs no code that it brings.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from opgen.command_line import Request
from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend.changes import Change, History, Made, Written, describe, family_of, find_change
from opgen.frontend.nodes import read_source
from opgen.inputs import Inputs
from opgen.output.manifest import Record, is_unchanged
from opgen.output.writer import Placed, Target
from opgen.parts import Former, Parts
from opgen.parts import Placed as PlacedParts
from opgen.program import Program
from opgen.values import dataclass

FOLDER: Final = ".opgen-parts"
"""Its name, in the install directory."""
WORTH_KEEPING: Final = 300
"""Operators from which on it pays to keep parts."""
_RUN: Final = "run"
"""The file that isn't a list of parts: the history, and which file is about which operator."""
_SHIMS: Final = "aoti"
"""The root of files that are kept as they are, or not at all."""


class LostPartsError(Exception):
    """What was kept can't be read after all."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What is left to do after an edit."""

    program: Program
    kept: tuple[Placed, ...]
    """Files that stay as they are."""
    change: Change
    shimmed: frozenset[str]
    """Families of operators that have C functions."""


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


def recall(
    former: Record, request: Request, inputs: Inputs, load: Callable[[Inputs, Request, Diagnostics], Program | None]
) -> Recalled | None:
    """What an edit of the definitions leaves to do; None if a former run is of no help."""
    definitions = os.fspath(inputs.functions) if isinstance(inputs.functions, Path) else ""
    if definitions not in former.inputs or not former.kept or former.said:
        return None
    others = (each for each in former.inputs.items() if each[0] != definitions)
    states = (*former.kept.items(), *others, *former.outputs.items())
    if not all(is_unchanged(path, state) for path, state in states):
        return None
    prefix = os.path.join(request.options.install_dir, folder_of(former), "")
    try:
        history, files, shimmed = _read_run(_loaded(f"{prefix}{_RUN}"))
        change = find_change(history, read_source(Path(definitions)), _loader(inputs, request, load))
    except (LostPartsError, UserError):
        return None
    if change is None or not change.families.isdisjoint(shimmed):
        return None
    parts = Former(lambda what: _parts(f"{prefix}{_file_name(what)}"), change.lost, change.places)
    program = replace(change.program, parts=Parts(parts, keeps=True))
    return Recalled(program, _kept(files, change.families), change, shimmed)


def _loader(
    inputs: Inputs, request: Request, load: Callable[[Inputs, Request, Diagnostics], Program | None]
) -> Callable[[Source], Program | None]:
    """Reads some entries; None if there is anything to be said about them."""

    def load_quietly(source: Source) -> Program | None:
        log = Diagnostics()
        program = load(replace(inputs, functions=source), request, log)
        is_plain = all(each.severity == "remark" for each in log.found)
        return (
            program
            if program is not None and is_plain and not (program.shims.any_device or program.shims.per_device)
            else None
        )

    return load_quietly


def _kept(files: Sequence[Placed], families: frozenset[str]) -> tuple[Placed, ...]:
    """The files that no operator of these families is in."""
    return tuple(f for f in files if f.root == _SHIMS or (f.operator and family_of(f.operator) not in families))


def _loaded(path: str) -> Any:
    try:
        with open(path, "rb") as file:
            return marshal.loads(file.read())
    except (OSError, ValueError, EOFError, TypeError) as error:
        raise LostPartsError(path) from error


def _parts(path: str) -> PlacedParts:
    found = _loaded(path)
    if not isinstance(found, list) or not all(isinstance(e, tuple) and len(e) == 2 for e in found):
        raise LostPartsError(path)
    return found


def _read_run(found: Any) -> tuple[History, list[Placed], frozenset[str]]:
    try:
        entries, derived, keys, files, shimmed = found
        history = History(tuple(Written(*e) for e in entries), tuple(Made(*e) for e in derived), tuple(keys))
        placed = [
            Placed(path, root, name, group, digest, None, False, operator, True)
            for operator, path, root, name, group, digest in files
        ]
    except (TypeError, ValueError) as error:
        raise LostPartsError(_RUN) from error
    return history, placed, frozenset(shimmed)


# --------------------------------------------------------------------------- after a run


def put_parts(target: Target, program: Program, folder: str, share: int) -> list[Placed]:
    """Writes the lists of parts that were made since the last call to where they wait."""
    made = dict(program.parts.made)
    program.parts.made.clear()
    return [
        target.put_data(f"{folder}/{_file_name(what)}", _dumped(parts), f"{share}-parts-{at}")
        for at, (what, parts) in enumerate(made.items())
    ]


def put_run(
    target: Target, program: Program, recalled: Recalled | None, folder: str, placed: Sequence[Placed]
) -> Placed | None:
    """Writes what there is to remember of a run to where it waits; None if it can't be made use of."""
    history = describe(program) if recalled is None else recalled.change.history
    if history is None:
        return None
    shimmed = _shimmed(program) if recalled is None else recalled.shimmed
    files = [(p.operator, p.path, p.root, p.name, p.group, p.digest) for p in placed if p.operator or p.root == _SHIMS]
    run = (
        tuple(map(tuple, history.entries)),
        tuple(map(tuple, history.derived)),
        history.keys,
        tuple(files),
        tuple(sorted(shimmed)),
    )
    return target.put_data(f"{folder}/{_RUN}", _dumped(run), "run")


def _shimmed(program: Program) -> frozenset[str]:
    operators = (*program.shims.any_device, *program.shims.per_device)
    return frozenset(family_of(operator.function.root_name) for operator in operators)


def _dumped(value: Any) -> bytes:
    # Version 2 doesn't look for values that come twice, which takes longer than to write them.
    return marshal.dumps(value, 2)


def _file_name(what: str) -> str:
    return what.replace(" ", "-")


def remove_unused(install_dir: str | os.PathLike[str], folders: Iterable[str]) -> None:
    """Removes the parts of runs that the manifest is no longer about."""
    used = set(map(os.path.basename, folders))
    base = os.path.join(install_dir, FOLDER)
    for name in os.listdir(base) if os.path.isdir(base) else ():
        if name not in used:
            shutil.rmtree(os.path.join(base, name), ignore_errors=True)
