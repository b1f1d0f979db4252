"""The result of a run → its summary line; its progress → a progress bar.

    out: 7,150 files, 12 changed, 1.9 s
    [########............]  40%  Operators.cpp

The bar is shown only on a terminal, once a run has taken a second.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from opgen.output.report import WriteReport

UNPRINTABLE: Final = 1
"""The exit code of a run whose output can't be printed."""

PATIENCE: Final = 1.0
"""The number of seconds before the bar appears."""
_INTERVAL: Final = 0.05
_BAR_WIDTH: Final = 20
_LABEL_WIDTH: Final = 40
_ERASE_LINE: Final = "\r\x1b[K"


class Stream(Protocol):
    """The stream that the bar is drawn on."""

    def write(self, text: str, /) -> object:
        """Write `text`."""

    def flush(self) -> object:
        """Flush what was written."""

    def isatty(self) -> bool:
        """Return whether it is a terminal."""


def say(errors: str, text: str, code: int) -> int:
    """Write to stderr and stdout; return the exit code, which is never 0 if `text` could not be written.

    If the stream is closed, or its reader has exited, nothing is written.
    """
    _print_to_stderr(errors)
    if not text:
        return code
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (BrokenPipeError, AttributeError, ValueError):
        return code
    except OSError as problem:
        _print_to_stderr(f"opgen: error: can't write to stdout: {problem.strerror} [output-not-written]\n")
        return code or UNPRINTABLE
    return code


def _print_to_stderr(text: str) -> None:
    with suppress(OSError, AttributeError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def format_summary(report: WriteReport, seconds: float) -> str:
    """Return the summary of a run: `out: 7,150 files, 12 changed, 1.9 s`."""
    changed = f"{len(report.changed):,} would change" if report.dry_run else f"{len(report.changed):,} changed"
    removed = f", {len(report.removed):,} {'would be ' if report.dry_run else ''}removed" if report.removed else ""
    prefix = f"{' and '.join(report.folders)}: " if report.folders else ""
    return f"{prefix}{count(report.total, 'file')}, {changed}{removed}, {format_seconds(seconds)}"


def format_report(report: WriteReport, seconds: float, *, quiet: bool = False, verbose: bool = False) -> str:
    """Return the report of a run: the summary, with file names if `verbose`; empty if `quiet`."""
    if quiet:
        return ""
    verb = "would write" if report.dry_run else "wrote"
    names = [f"{verb} {path}" for path in report.changed] if verbose else []
    if verbose:
        names += [f"{'would remove' if report.dry_run else 'removed'} {path}" for path in report.removed]
    return "\n".join([*names, format_summary(report, seconds)]) + "\n"


def count(number: int, noun: str) -> str:
    """Return `1 file`, `7,150 files`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def format_seconds(seconds: float) -> str:
    """Return `1.9 s`, `2 min 5 s`."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s"


def format_bar(done: int, total: int, label: str = "") -> str:
    """Return `[########............]  40%  label` for `done` of `total` steps."""
    share = min(done / total, 1.0) if total else 1.0
    filled = int(share * _BAR_WIDTH)
    bar = "#" * filled + "." * (_BAR_WIDTH - filled)
    return f"[{bar}] {int(share * 100):>3}%  {label[:_LABEL_WIDTH]}".rstrip()


@dataclass(slots=True)
class Progress:
    """A progress bar of `total` steps, drawn on a terminal once the run has taken `PATIENCE` seconds."""

    total: int
    stream: Stream
    clock: Callable[[], float] = time.monotonic
    enabled: bool = True
    """Whether the bar is drawn at all."""
    done: int = 0
    """The number of finished steps."""
    _next: float = 0.0
    """The time at which the bar is drawn next."""
    _shown: bool = False

    def __post_init__(self) -> None:
        self.enabled = self.enabled and self.stream.isatty()
        self._next = self.clock() + PATIENCE

    def advance(self, label: str = "", steps: int = 1) -> None:
        """Count `steps` as finished; `label` names the next one."""
        self.done += steps
        if self.enabled and (now := self.clock()) >= self._next:
            self._next = now + _INTERVAL
            self._shown = True
            self.stream.write(_ERASE_LINE + format_bar(self.done, self.total, label))
            self.stream.flush()

    def close(self) -> None:
        """Remove the bar, so that later output begins on an empty line."""
        if self._shown:
            self._shown = False
            self.stream.write(_ERASE_LINE)
            self.stream.flush()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
