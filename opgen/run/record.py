"""Keeps account of a run: what it reads and writes, what a former run with the same flags wrote.

    record = record_of(arguments, request)
    record.load(install_dir)             →  record.known, record.gone(…)
    record.announcement(placed)          →  the manifest before files take their places
    record.manifest(inputs, placed, …)   →  the manifest after that

The manifest itself is `opgen.output.manifest`.
"""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from opgen.output.manifest import FileState, Record, file_state, load_records, render_manifest, with_record
from opgen.output.writer import PlacedFile

if TYPE_CHECKING:
    # Other commands have flags of their own, and needn't load those of gen.
    from opgen.command_line import Request

_TICK_NS: Final = 20_000_000
_UNCERTAIN: Final = FileState("changed during the run")
"""Of an input whose bytes may not be those that were read: no file is as this says."""


class RunRecord:
    """The account of one run."""

    def __init__(self, arguments: Sequence[str], options: str, *, quiet: bool, stamp: Path | None) -> None:
        """`arguments` is the command line, `options` a text that is the same for all that ask the same."""
        self._started = time.time_ns()
        self._record = Record(
            arguments=tuple(arguments),
            folder=os.getcwd(),
            options=options,
            inputs={},
            outputs={},
            quiet=quiet,
            stamp=os.fspath(stamp or ""),
        )
        self._records: tuple[Record, ...] = ()
        self._former: Record | None = None

    def load(self, install_dir: str | os.PathLike[str]) -> None:
        """Reads what former runs kept in the folder."""
        self._records = load_records(install_dir)
        same = [each for each in self._records if self._is_mine(each)]
        # There are two if a run was killed: the one before, and what that one announced.
        outputs = {path: state for each in reversed(same) for path, state in each.outputs.items()}
        self._former = replace(same[0], outputs=outputs, line="") if len(same) > 1 else same[0] if same else None

    def _is_mine(self, record: Record) -> bool:
        return (record.options, record.folder) == (self._record.options, self._record.folder)

    @property
    def known(self) -> Mapping[str, FileState]:
        """Files as former runs left them."""
        return {path: state for record in reversed(self._records) for path, state in record.outputs.items()}

    def gone(self, paths: Iterable[str]) -> Mapping[str, FileState]:
        """Files that a former run wrote with the same flags, and no run does now: this one has the `paths`."""
        if self._former is None:
            return {}
        kept = set(paths)
        kept.update(path for other in self._records if not self._is_mine(other) for path in other.outputs)
        return {path: state for path, state in self._former.outputs.items() if path not in kept}

    def announcement(self, placed: Iterable[PlacedFile]) -> str | None:
        """The manifest to write before new files come: if the run is killed, the next one knows whose they are.

        None if all files are those of the former run.
        """
        former = self._former.outputs if self._former is not None else {}
        new = {file.path: FileState(file.digest) for file in placed if file.path not in former}
        return render_manifest([self._with(outputs=new, arguments=()), *self._records]) if new else None

    def manifest(
        self,
        inputs: Iterable[str],
        placed: Iterable[PlacedFile],
        *,
        others: Collection[str],
        total: int,
        said: str,
    ) -> str:
        """Return the manifest of a finished run; `others` are outputs besides those placed."""
        record = self._with(
            inputs={path: self._input_state(path) for path in inputs},
            outputs={file.path: file_state(file.path, file.digest) for file in placed}
            | {path: file_state(path) for path in others},
            total=total,
            said=said,
        )
        return render_manifest(with_record(self._records, record))

    def _with(self, **changes: Any) -> Record:
        return replace(self._record, **changes)

    def _input_state(self, path: str) -> FileState:
        state = file_state(path)
        try:
            found = os.stat(path)
        except OSError:
            return state
        is_later = stat.S_ISREG(found.st_mode) and found.st_ctime_ns >= self._started - _TICK_NS
        return _UNCERTAIN if is_later else state


def record_of(arguments: Sequence[str], request: Request) -> RunRecord:
    """The account of a run of the ATen generator."""
    return RunRecord(arguments, canonical(meaning(request)), quiet=request.quiet, stamp=request.stamp)


def meaning(request: Request) -> Mapping[str, object]:
    """What the command line asks for, apart from how it is done and talked about."""
    manner = ("options", "quiet", "verbose", "jobs", "dry_run")
    asked = {field.name: getattr(request, field.name) for field in fields(request)}
    options = {field.name: getattr(request.options, field.name) for field in fields(request.options)}
    return {name: value for name, value in (asked | options).items() if name not in manner}


def canonical(value: object) -> str:
    """A text that is the same for equal values in every process."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {canonical(each)}" for key, each in sorted(value.items())) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(canonical, value))) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(canonical, value)) + "]"
    if isinstance(value, Enum):
        return value.name
    return repr(os.fspath(value)) if isinstance(value, Path) else repr(value)


def code_files() -> list[str]:
    """The files of the program itself: opgen's modules, and those of the YAML reader."""
    return sorted(
        file
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ("opgen", "yaml", "_yaml") and (file := getattr(module, "__file__", None))
    )
