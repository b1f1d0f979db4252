"""What a run read and wrote → `.opgen-manifest.json`, by which the next run sees that there is nothing to do.

There is a record for each set of flags.  It has every file that was read (definitions, templates,
opgen's own code) and every file that was written, each with a digest of its bytes.  Whether a file is as it was
is decided by its bytes; its size and times only save looking at them, and only if it was not changed
about when the record was made, when one tick of the clock could hide a change.

    find_current(["-s", "ATen", "-d", "out"])   →   the record, or None if anything is not as it says

A manifest that can't be read, is damaged or is about other flags counts as none at all.  This module
imports next to nothing: it is all that a run without changes needs.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from opgen.frozen_dataclass import dataclass
from opgen.input_files import read_bytes

NAME: Final = ".opgen-manifest.json"
"""Its name, in the install directory."""
DEFAULT_INSTALL_DIR: Final = "build/aten/src/ATen"

FORMAT: Final = 4
"""The version of the file's format; a manifest of another version counts as none."""
_MAX_RECORDS: Final = 16
_STATES: Final = ("inputs", "outputs")
_TICK_NS: Final = 20_000_000
"""Longer than the clock of any file system takes to show that time has passed; of those that count nanoseconds."""


_FOLDER: Final = "folder"
"""In place of the digest, where there is a folder; what is in it doesn't matter."""


class FileState(NamedTuple):
    """A file as it was."""

    digest: str
    """Of its bytes; empty if there was nothing."""
    size: int = 0
    mtime: int = 0
    """In nanoseconds; 0 if times say nothing about this file."""
    ctime: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """One run: what it was asked, what it read, what it wrote."""

    arguments: tuple[str, ...]
    """The command line."""
    folder: str
    """The working directory, which paths are relative to."""
    options: str
    """What the command line means: the same for the same flags in other words."""
    inputs: Mapping[str, FileState]
    outputs: Mapping[str, FileState]
    total: int = 0
    """How many files the run reported."""
    folders: tuple[str, ...] = ()
    """The folders that they are in, as the user named them."""
    quiet: bool = False
    said: str = ""
    """What the run had to remark, to be said again."""
    python: str = sys.version
    line: str = ""
    """What it was read from, so that it need not be spelled anew."""


def digest(data: bytes) -> str:
    """A short name for these bytes that no others have."""
    return hashlib.sha256(data).hexdigest()[:32]


def file_state(path: str, known_digest: str | None = None) -> FileState:
    """The file as it is; its bytes are not read if their digest is known."""
    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode):
            return FileState(_FOLDER if stat.S_ISDIR(found.st_mode) else "")
        content = digest(read_bytes(path)) if known_digest is None else known_digest
    except OSError:
        return FileState("")
    if found.st_ctime_ns > time.time_ns() - _TICK_NS:
        return FileState(content, found.st_size)
    return FileState(content, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def is_unchanged(path: str, state: FileState) -> bool:
    """Whether the file is as it was."""
    try:
        found = os.stat(path)
        if found.st_mtime_ns == state.mtime and found.st_ctime_ns == state.ctime and found.st_size == state.size:
            return True
        if stat.S_ISDIR(found.st_mode):
            return state.digest == _FOLDER
        return found.st_size == state.size and digest(read_bytes(path)) == state.digest
    except OSError:
        return not state.digest
    except ValueError:
        return False  # such a path was never written by us


def find_current(arguments: Sequence[str]) -> Record | None:
    """Return the record of a run with this command line that would do nothing now; None if there is none.

    `arguments` begin with the command's name.
    """
    wanted, here = tuple(arguments), os.getcwd()
    for folder in dict.fromkeys(_folders_named(arguments)):
        for record in load_records(folder):
            if record.arguments == wanted and record.folder == here and record.python == sys.version:
                return record if _is_current(record) else None
    return None


def _folders_named(arguments: Sequence[str]) -> Iterator[str]:
    """Yield what may be the output folder, without knowing the flags: `out`, `--flag=out` and `-dout`.

    A wrong guess does no harm: a record is of one command line.
    """
    for word in arguments:
        yield from (word, word[2:]) if word.startswith("-") and word[1:2] != "-" else (word.partition("=")[2] or word,)
    yield DEFAULT_INSTALL_DIR


def _is_current(record: Record) -> bool:
    return all(is_unchanged(path, state) for path, state in record.inputs.items()) and all(
        is_unchanged(path, state) for path, state in record.outputs.items()
    )


# --------------------------------------------------------------------------- the file


def load_records(folder: str | os.PathLike[str]) -> tuple[Record, ...]:
    """The records of the folder's manifest; none if it has no sound one."""
    try:
        head, _, body = read_bytes(os.path.join(folder, NAME)).partition(b"\n")
        header = json.loads(head)
        if header != {"opgen manifest": FORMAT, "digest": digest(body)}:
            return ()
        return tuple(_read_record(line) for line in body.decode().split("\n") if line)
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return ()


def render_manifest(records: Iterable[Record]) -> str:
    """The manifest's text."""
    body = "\n".join(record.line or _write_record(record) for record in records)
    header = json.dumps({"opgen manifest": FORMAT, "digest": digest(body.encode())})
    return f"{header}\n{body}"


def with_record(records: Sequence[Record], new: Record) -> list[Record]:
    """`records` with `new` first, in the place of the one for the same flags."""
    others = [record for record in records if (record.options, record.folder) != (new.options, new.folder)]
    return [new, *others][:_MAX_RECORDS]


def _write_record(record: Record) -> str:
    fields = {name: getattr(record, name) for name in Record.__slots__ if name != "line"}
    return json.dumps(fields, separators=(",", ":"))


def _read_record(line: str) -> Record:
    """Read a record; raise TypeError, ValueError or AttributeError if its fields have other types than opgen writes."""
    fields: dict[str, Any] = json.loads(line)
    states = {name: {path: _read_state(state) for path, state in fields.pop(name).items()} for name in _STATES}
    lists = {name: tuple(fields[name]) for name in ("arguments", "folders")}
    record = Record(**{**fields, **states, **lists, "line": line})
    texts = (record.folder, record.options, record.said, record.python, *record.arguments, *record.folders)
    if (
        not all(isinstance(text, str) for text in texts)
        or type(record.total) is not int
        or type(record.quiet) is not bool
    ):
        raise TypeError
    return record


def _read_state(state: Any) -> FileState:
    name, *numbers = state
    if not isinstance(name, str) or not all(type(number) is int for number in numbers):
        raise TypeError
    return FileState(name, *numbers)
