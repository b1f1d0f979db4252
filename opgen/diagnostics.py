"""A location in a source text and a message → the text that the user reads.

All user errors are reported through this module: a `Diagnostic` says what is wrong, where (a `Span`
of a `Source`), which values are legal, and the nearest legal word.  A `Diagnostics` collects them
within a phase, so that one run reports all of them.  This module does *not* decide what is wrong, and
it does not print: `render` returns the text, and the command prints it.

    ops.yaml:323:3: error: unknown key 'varients' in entry 'abs' [unknown-key]
      323 |   varients: function, method
          |   ^^^^^^^^ did you mean 'variants'?
"""

from __future__ import annotations

import dataclasses
import importlib
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import field

from opgen.frozen_dataclass import dataclass

TAB_WIDTH = 4
MAX_LINE = 110
"""Maximum number of characters shown of a source line; a longer line is cut to those around the caret."""
FEW = 4
"""Maximum number of legal words to list in addition to a suggestion."""
MAX_MESSAGE = 300
"""Maximum length of a message or a label, which may quote text of any length."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text that was read, under the name that the user knows it by.

    Sources are compared by identity.
    """

    name: str
    """The path as the user wrote it, or a name in angle brackets for text that has no file."""
    text: str
    """The whole text, newlines normalised to `\\n`."""
    _line_starts: list[int] = field(default_factory=list, repr=False)

    def line_starts(self) -> list[int]:
        """Return the offsets at which lines begin; computed on first use."""
        if not self._line_starts:
            starts, newline = [0], self.text.find("\n")
            while newline >= 0:
                starts.append(newline + 1)
                newline = self.text.find("\n", newline + 1)
            self._line_starts.extend(starts)
        return self._line_starts

    def position(self, offset: int) -> tuple[int, int]:
        """Return the 1-based line and column (in characters) of `offset`."""
        starts = self.line_starts()
        line = bisect_right(starts, max(0, min(offset, len(self.text)))) - 1
        return line + 1, offset - starts[line] + 1

    def line(self, number: int) -> str:
        """Return the text of the 1-based line `number`, without its newline."""
        starts = self.line_starts()
        start = starts[number - 1]
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[start:end]

    def span(self, start: int, end: int) -> Span:
        """Return the span from offset `start` to offset `end`."""
        return Span(self, start, end)


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a source, as half-open character offsets; line and column are computed on demand."""

    source: Source
    start: int
    end: int

    @property
    def line(self) -> int:
        """1-based line of the first character."""
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        """1-based column of the first character."""
        return self.source.position(self.start)[1]

    def sub(self, start: int, end: int) -> Span:
        """Return the part of this span from its character `start` to its character `end`."""
        return Span(self.source, self.start + start, self.start + end)

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"


@dataclass(frozen=True, slots=True)
class Note:
    """A second location that explains a diagnostic ('first defined here'), or advice without a location."""

    message: str
    span: Span | None = None
    lines: tuple[str, ...] = ()
    """Text shown below the message, in full, such as a diff."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One user error: what is wrong, where, and the fix."""

    id: str
    """Stable kebab-case name of the kind of error, for searching and for tests."""
    message: str
    """What is wrong, in one line, without a full stop."""
    span: Span | None = None
    """Its location; None if no text caused it (a missing file, a bad flag)."""
    label: str = ""
    """Shown after the caret: what is expected there, or `did you mean …?`."""
    notes: tuple[Note, ...] = ()
    severity: str = "error"
    """`error`, `warning` or `remark`; only errors prevent a run from writing."""

    def render(self) -> str:
        """Return the text the user reads, newline-terminated."""
        parts = list(_render_location(self.span, f"{self.severity}: {_one_line(self.message)} [{self.id}]", self.label))
        for note in self.notes:
            parts += _render_location(note.span, f"note: {_one_line(note.message)}", "")
            parts += [f"  {_visible(line)}".rstrip() for line in note.lines]
        return "\n".join(parts) + "\n"


class UserError(Exception):
    """A user error that ends the current operation; carries its diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("".join(d.render() for d in diagnostics).rstrip("\n"))
        self.diagnostics = diagnostics


@dataclasses.dataclass(slots=True)
class Diagnostics:
    """Collects the diagnostics of a run, in the order reported."""

    all: list[Diagnostic] = field(default_factory=list)
    error_count: int = 0
    """The number of errors, duplicates included."""

    def error(
        self, id: str, message: str, span: Span | None = None, label: str = "", notes: Iterable[Note] = ()
    ) -> None:
        """Record an error."""
        self.error_count += 1
        self.all.append(Diagnostic(id, message, span, label, tuple(notes)))

    def warning(
        self, id: str, message: str, span: Span | None = None, label: str = "", notes: Iterable[Note] = ()
    ) -> None:
        """Record a warning, which doesn't stop the run."""
        self.all.append(Diagnostic(id, message, span, label, tuple(notes), severity="warning"))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Record existing diagnostics, such as those of a `UserError`."""
        for diagnostic in diagnostics:
            self.all.append(diagnostic)
            self.error_count += diagnostic.severity == "error"

    @property
    def has_errors(self) -> bool:
        """Whether any error was recorded."""
        return self.error_count > 0

    def remark(self, id: str, message: str, span: Span | None = None, label: str = "") -> None:
        """Record a remark, which only `--verbose` shows."""
        self.all.append(Diagnostic(id, message, span, label, severity="remark"))

    def render(self, *, with_remarks: bool = True) -> str:
        """Return all diagnostics as text, in source order, then a line with the number of errors."""
        ordered = self.sorted(with_remarks=with_remarks)
        errors = sum(d.severity == "error" for d in ordered)
        tail = f"{errors} error{'s' if errors != 1 else ''}\n" if errors else ""
        return "".join(d.render() for d in ordered) + tail

    def sorted(self, *, with_remarks: bool = True) -> list[Diagnostic]:
        """Return all diagnostics in source order, without duplicates."""
        wanted = (d for d in dict.fromkeys(self.all) if with_remarks or d.severity != "remark")
        return sorted(wanted, key=_source_order)

    def raise_errors(self) -> None:
        """Raise a `UserError` with all diagnostics if any of them is an error."""
        if self.has_errors:
            raise UserError(*self.all)


def closest(word: str, legal: Iterable[str]) -> str | None:
    """Return the legal word that `word` was most likely meant to be, or None if none is near."""
    candidates = sorted(set(legal))
    exact = [c for c in candidates if c.lower() == word.lower()]
    # Imported on demand, since the import is slow and only errors need it.
    near = exact or importlib.import_module("difflib").get_close_matches(word, candidates, n=1, cutoff=0.6)
    return near[0] if near else None


def did_you_mean(word: str, legal: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the nearest legal word, or an empty string."""
    near = closest(word, legal)
    return f"did you mean '{near}'?" if near else ""


def expected(word: str, legal: Iterable[str], limit: int = 12) -> str:
    """Return the label for an illegal word: the nearest legal word, or all legal words if there are few."""
    words = sorted(legal) if isinstance(legal, (set, frozenset)) else list(legal)
    near, listing = did_you_mean(word, words), ", ".join(words)
    if near:
        return f"{near} (one of: {listing})" if 1 < len(words) <= FEW else near
    if not words or len(words) > limit:
        return ""
    return f"expected one of: {listing}" if len(words) > 1 else f"expected: {listing}"


def _source_order(diagnostic: Diagnostic) -> tuple[str, int, int]:
    if diagnostic.span is None:
        return ("", 0, 0)
    return (diagnostic.span.source.name, diagnostic.span.start, diagnostic.span.end)


def _render_location(span: Span | None, headline: str, label: str) -> Iterator[str]:
    label = _one_line(label)
    if span is None:
        yield f"opgen: {headline}"
        if label:
            yield f"  {label}"
        return
    line, column = span.source.position(span.start)
    lead, marked, rest = _window(span.source.line(line), column - 1, max(1, span.end - span.start))
    gutter = f"{line:>5}"
    carets = "^" * max(1, _width(marked))
    yield f"{span.source.name}:{line}:{column}: {headline}"
    yield f"{gutter} | {lead}{marked}{rest}".rstrip()
    yield f"{' ' * len(gutter)} | {' ' * _width(lead)}{carets} {label}".rstrip()


def _window(text: str, start: int, length: int) -> tuple[str, str, str]:
    """Return the text before, within and after the marked part of a line, with `…` where it was cut."""
    lead, marked, rest = text[:start], text[start : start + length], text[start + length :]
    if len(text) <= MAX_LINE:
        return _visible(lead), _visible(marked), _visible(rest)
    third = MAX_LINE // 3
    room_after = third + max(0, third - len(marked))
    room_before = third + max(0, room_after - len(rest))
    if len(lead) > room_before:
        lead = "…" + lead[-room_before:]
    if len(marked) > 2 * third:
        marked, rest = marked[: 2 * third], "…"
    elif len(rest) > room_after:
        rest = rest[:room_after] + "…"
    return _visible(lead), _visible(marked), _visible(rest)


def _one_line(text: str) -> str:
    """Return `text` on one line: unprintable characters are escaped, and text that is too long is cut."""
    if len(text) > MAX_MESSAGE:
        text = f"{text[: MAX_MESSAGE // 2]}…{text[-MAX_MESSAGE // 2 :]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _visible(text: str) -> str:
    """Return `text` with tabs expanded and control characters replaced, so that carets line up."""
    if text.isascii() and text.isprintable():
        return text
    widened = text.replace("\t", " " * TAB_WIDTH)
    return "".join(
        "\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _CONTROL_CATEGORIES else c for c in widened
    )


_CONTROL_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of control and formatting characters."""


def _width(text: str) -> int:
    """Return the width of `text` in terminal columns: wide East Asian characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
