"""The files that a run reads and writes → its record in the manifest, compared with earlier runs with the same flags.

    record = RunRecord("gen", arguments, options, started)
    record.load(install_dir)             →  record.known, record.gone(…)
    record.announcement(placed)          →  the manifest before files are renamed
    record.manifest(inputs, placed, …)   →  the manifest after that

The manifest itself is `opgen.output.manifest`.
"""

from __future__ import annotations

import argparse
import os
import stat
import sys
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any, Final

from opgen.output.console import format_report
from opgen.output.manifest import TICK_NS, FileState, Record, file_state, load_records, render_manifest, with_record
from opgen.output.report import WriteReport
from opgen.output.snippets import snippet_files
from opgen.output.writer import PlacedFile
from opgen.run.flags import RunFlags

_NON_SEMANTIC_FLAGS: Final = ("quiet", "verbose", "jobs", "dry_run")
"""Flags that don't change the written files."""
_MODIFIED_DURING_RUN: Final = FileState("changed during the run")
"""A state that never matches: the input may have changed after it was read."""


class RunRecord:
    """Manifest bookkeeping for one run."""

    def __init__(
        self, command: str, arguments: Sequence[str], options: argparse.Namespace, started: float = 0.0
    ) -> None:
        """`arguments` is the command line, `started` the monotonic time at which the run began."""
        self.flags = RunFlags.of(options)
        self._start_seconds = started
        self._start_ns = time.time_ns()
        meaning = {name: value for name, value in vars(options).items() if name not in _NON_SEMANTIC_FLAGS}
        self._record = Record(
            arguments=(command, *arguments),
            folder=os.getcwd(),
            options=canonical({"command": command, **meaning}),
            inputs={},
            outputs={},
            quiet=self.flags.quiet,
        )
        self._records: tuple[Record, ...] = ()
        self._previous: Record | None = None

    def load(self, install_dir: str | os.PathLike[str]) -> None:
        """Read the manifest in the folder."""
        self._records = load_records(install_dir)
        matching = [record for record in self._records if self._has_same_flags(record)]
        # Two records exist after a killed run: the last completed run and the interrupted one.
        outputs = {path: state for record in reversed(matching) for path, state in record.outputs.items()}
        self._previous = (
            replace(matching[0], outputs=outputs, line="") if len(matching) > 1 else matching[0] if matching else None
        )

    def _has_same_flags(self, record: Record) -> bool:
        return (record.options, record.folder) == (self._record.options, self._record.folder)

    @property
    def previous_outputs(self) -> Mapping[str, FileState]:
        """The state of the files after earlier runs."""
        return {path: state for record in reversed(self._records) for path, state in record.outputs.items()}

    def obsolete(self, paths: Iterable[str]) -> Mapping[str, FileState]:
        """Return the outputs of the previous run with the same flags that are not in `paths` or another record."""
        if self._previous is None:
            return {}
        current = set(paths)
        current.update(path for other in self._records if not self._has_same_flags(other) for path in other.outputs)
        return {path: state for path, state in self._previous.outputs.items() if path not in current}

    def announcement(self, placed: Iterable[PlacedFile]) -> str | None:
        """Return the manifest to write before new files, or None if there are none.

        If the run is killed, the next run knows that opgen wrote these files and may remove them.
        """
        previous = self._previous.outputs if self._previous is not None else {}
        new = {file.path: FileState(file.digest) for file in placed if file.path not in previous}
        return render_manifest([self._with(outputs=new, arguments=()), *self._records]) if new else None

    def manifest(
        self,
        inputs: Iterable[str],
        placed: Iterable[PlacedFile],
        others: Collection[str],
        report: WriteReport,
        warnings: str,
    ) -> str:
        """Return the manifest of a finished run; `others` are outputs besides those placed."""
        record = self._with(
            inputs={path: self._input_state(path) for path in inputs},
            outputs={file.path: file_state(file.path, file.digest) for file in placed}
            | {path: file_state(path) for path in others},
            total=report.total,
            folders=report.folders,
            warnings=warnings,
        )
        return render_manifest(with_record(self._records, record))

    def render_report(self, report: WriteReport) -> str:
        """Return the summary that the run prints."""
        seconds = time.monotonic() - self._start_seconds
        return format_report(report, seconds, quiet=self.flags.quiet, verbose=self.flags.verbose)

    def _with(self, **changes: Any) -> Record:
        return replace(self._record, **changes)

    def _input_state(self, path: str) -> FileState:
        state = file_state(path)
        try:
            status = os.stat(path)
        except OSError:
            return state
        is_later = stat.S_ISREG(status.st_mode) and status.st_ctime_ns >= self._start_ns - TICK_NS
        return _MODIFIED_DURING_RUN if is_later else state


def canonical(value: object) -> str:
    """Return a string that is the same for equal values in every process."""
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
    """Return the files of opgen's code: its loaded modules and snippets, and the modules of the YAML reader."""
    modules = (
        file
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in ("opgen", "yaml", "_yaml") and (file := getattr(module, "__file__", None))
    )
    return sorted((*modules, *snippet_files()))
