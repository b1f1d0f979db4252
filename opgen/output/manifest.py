"""The inputs and outputs of a run → `.opgen-manifest.json`, from which the next run sees if anything changed.

The manifest has a record for each set of flags: every file that was read (definitions, templates, opgen's own code)
and every file that was written, each with a digest of its bytes.  A file is unchanged if its bytes are.  A file with
equal size and times isn't read, unless it changed within a clock tick of the record.

    find_current(["-s", "ATen", "-d", "out"])   →   the record, or None if any file is stale

A manifest that can't be read, is damaged or has no record for the flags is ignored.  This module imports little,
since runs without changes need only this module.
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
"""The name of the manifest in the install directory."""
DEFAULT_INSTALL_DIR: Final = "build/aten/src/ATen"

FORMAT: Final = 4
"""The version of the file's format; a manifest of another version is ignored."""
_MAX_RECORDS: Final = 16
_STATES: Final = ("inputs", "outputs")
TICK_NS: Final = 20_000_000
"""Longer than a clock tick of any file system that counts nanoseconds."""


_FOLDER: Final = "folder"
"""The digest of a folder; its contents don't matter."""


class FileState(NamedTuple):
    """The state of a file when a record was made."""

    digest: str
    """The digest of its bytes; empty if the file didn't exist."""
    size: int = 0
    mtime: int = 0
    """In nanoseconds; 0 if the file changed too recently to rely on its times."""
    ctime: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    """One run: its command line, what it read and what it wrote."""

    arguments: tuple[str, ...]
    """The command line."""
    folder: str
    """The working directory, which paths are relative to."""
    options: str
    """The meaning of the command line: equal for equal flags, however they are spelled."""
    inputs: Mapping[str, FileState]
    outputs: Mapping[str, FileState]
    total: int = 0
    """The number of files that the run reported."""
    folders: tuple[str, ...] = ()
    """The folders of the outputs, as the user named them."""
    quiet: bool = False
    warnings: str = ""
    """The warnings of the run, printed again if the run is skipped."""
    python: str = sys.version
    line: str = ""
    """The serialized record, if it was read from a manifest."""


def digest(data: bytes) -> str:
    """Return the digest of these bytes."""
    return hashlib.sha256(data).hexdigest()[:32]


def file_state(path: str, known_digest: str | None = None) -> FileState:
    """Return the state of the file; with `known_digest`, its bytes aren't read."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            return FileState(_FOLDER if stat.S_ISDIR(status.st_mode) else "")
        content = digest(read_bytes(path)) if known_digest is None else known_digest
    except OSError:
        return FileState("")
    if status.st_ctime_ns > time.time_ns() - TICK_NS:
        return FileState(content, status.st_size)
    return FileState(content, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def is_unchanged(path: str, state: FileState) -> bool:
    """Return whether the file is unchanged since `state`."""
    try:
        status = os.stat(path)
        if status.st_mtime_ns == state.mtime and status.st_ctime_ns == state.ctime and status.st_size == state.size:
            return True
        if stat.S_ISDIR(status.st_mode):
            return state.digest == _FOLDER
        return status.st_size == state.size and digest(read_bytes(path)) == state.digest
    except OSError:
        return not state.digest
    except ValueError:
        return False  # opgen never writes such a path


def find_current(arguments: Sequence[str]) -> Record | None:
    """Return the record of this command line if all its files are unchanged; otherwise None.

    `arguments` begin with the command's name.
    """
    wanted, working_folder = tuple(arguments), os.getcwd()
    for folder in dict.fromkeys(_candidate_folders(arguments)):
        for record in load_records(folder):
            if record.arguments == wanted and record.folder == working_folder and record.python == sys.version:
                return record if _is_current(record) else None
    return None


def _candidate_folders(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the words that may be the output folder, without knowing the flags: `out`, `--flag=out` and `-dout`.

    A wrong guess is harmless, since a record also has the command line.
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
    """Return the records of the folder's manifest; none if it is missing or damaged."""
    try:
        head, _, body = read_bytes(os.path.join(folder, NAME)).partition(b"\n")
        header = json.loads(head)
        if header != {"opgen manifest": FORMAT, "digest": digest(body)}:
            return ()
        return tuple(_read_record(line) for line in body.decode().split("\n") if line)
    except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return ()


def render_manifest(records: Iterable[Record]) -> str:
    """Return the manifest's text."""
    body = "\n".join(record.line or _write_record(record) for record in records)
    header = json.dumps({"opgen manifest": FORMAT, "digest": digest(body.encode())})
    return f"{header}\n{body}"


def with_record(records: Sequence[Record], new: Record) -> list[Record]:
    """Return `records` with `new` first, in place of the record for the same flags."""
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
    texts = (record.folder, record.options, record.warnings, record.python, *record.arguments, *record.folders)
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
