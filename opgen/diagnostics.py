"""Turns a place in a source text and a message into what the user reads.

Everything that a user can get wrong is reported through this module: a `Diagnostic` says what is
wrong, where (a `Span` of a `Source`), what is legal, and the nearest legal word.  A `Diagnostics`
collects them within a phase, so that one run reports all of them.  It does *not* decide what is
wrong, and it does not print: `render` gives the text, the command's shell shows it.

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
"""Most characters of a source line that are shown; of a longer one, those around the caret."""
FEW = 4
"""Most legal words that are listed although one of them is near."""
MAX_MESSAGE = 300
"""Most characters of a message or a label: text of the user's that it repeats has no bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A text that was read, under the name that the user knows it by.

    Two sources are equal only if they are the same object: a source is where things came from,
    not a value.
    """

    name: str
    """The path as the user wrote it, or a name in angle brackets for text that has no file."""
    text: str
    """The whole text, newlines normalised to `\\n`."""
    _line_starts: list[int] = field(default_factory=list, repr=False)

    def line_starts(self) -> list[int]:
        """Offsets at which lines begin; computed the first time a line is asked for."""
        if not self._line_starts:
            starts, at = [0], self.text.find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = self.text.find("\n", at + 1)
            self._line_starts.extend(starts)
        return self._line_starts

    def position(self, offset: int) -> tuple[int, int]:
        """1-based line and column (in characters) of `offset`."""
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
    """A stretch of a source, as half-open character offsets; line and column only when asked."""

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
    """A second place that explains a diagnostic ('first defined here'), or advice with no place."""

    message: str
    span: Span | None = None
    lines: tuple[str, ...] = ()
    """Text shown below, line by line and in full: a difference, say."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One mistake of the user: what is wrong, where, and the fix."""

    id: str
    """Stable kebab-case name of the kind of mistake, for searching and for tests."""
    message: str
    """What is wrong, in one line, without a full stop."""
    span: Span | None = None
    """Where; None only if no text is to blame (a missing file, a bad flag)."""
    label: str = ""
    """Written after the caret: what is legal there, or `did you mean …?`."""
    notes: tuple[Note, ...] = ()
    severity: str = "error"
    """`error`, `warning` or `remark`; only errors keep a run from writing."""

    def render(self) -> str:
        """Return the text the user reads, newline-terminated."""
        parts = list(_render_place(self.span, f"{self.severity}: {_one_line(self.message)} [{self.id}]", self.label))
        for note in self.notes:
            parts += _render_place(note.span, f"note: {_one_line(note.message)}", "")
            parts += [f"  {_visible(line)}".rstrip() for line in note.lines]
        return "\n".join(parts) + "\n"


class UserError(Exception):
    """A mistake of the user's that ends the work at hand; carries its diagnostics."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("".join(d.render() for d in diagnostics).rstrip("\n"))
        self.diagnostics = diagnostics


@dataclasses.dataclass(slots=True)
class Diagnostics:
    """Collects the diagnostics of a run, in the order found."""

    found: list[Diagnostic] = field(default_factory=list)
    error_count: int = 0
    """How many errors were found, repeats included."""

    def error(
        self, id: str, message: str, span: Span | None = None, label: str = "", notes: Iterable[Note] = ()
    ) -> None:
        """Records an error."""
        self.error_count += 1
        self.found.append(Diagnostic(id, message, span, label, tuple(notes)))

    def warning(
        self, id: str, message: str, span: Span | None = None, label: str = "", notes: Iterable[Note] = ()
    ) -> None:
        """Records a warning: shown, but the run goes on."""
        self.found.append(Diagnostic(id, message, span, label, tuple(notes), severity="warning"))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Records diagnostics made elsewhere, for example those that a `UserError` carries."""
        for diagnostic in diagnostics:
            self.found.append(diagnostic)
            self.error_count += diagnostic.severity == "error"

    @property
    def has_errors(self) -> bool:
        """Whether any error was found."""
        return self.error_count > 0

    def remark(self, id: str, message: str, span: Span | None = None, label: str = "") -> None:
        """Records what is no mistake, but worth knowing to someone who asks for every detail."""
        self.found.append(Diagnostic(id, message, span, label, severity="remark"))

    def render(self, *, with_remarks: bool = True) -> str:
        """Return all of them in source order, then a line with the count of errors."""
        ordered = self.sorted(with_remarks=with_remarks)
        errors = sum(d.severity == "error" for d in ordered)
        tail = f"{errors} error{'s' if errors != 1 else ''}\n" if errors else ""
        return "".join(d.render() for d in ordered) + tail

    def sorted(self, *, with_remarks: bool = True) -> list[Diagnostic]:
        """Return all of them in source order, without repeats."""
        wanted = (d for d in dict.fromkeys(self.found) if with_remarks or d.severity != "remark")
        return sorted(wanted, key=_source_order)

    def raise_errors(self) -> None:
        """Raise a `UserError` that carries everything found, if any of it is an error."""
        if self.has_errors:
            raise UserError(*self.found)


def closest(word: str, legal: Iterable[str]) -> str | None:
    """Return the legal word that `word` was most likely meant to be, or None if none is near."""
    candidates = sorted(set(legal))
    exact = [c for c in candidates if c.lower() == word.lower()]
    # Only mistakes need it, and it takes a while to import.
    near = exact or importlib.import_module("difflib").get_close_matches(word, candidates, n=1, cutoff=0.6)
    return near[0] if near else None


def did_you_mean(word: str, legal: Iterable[str]) -> str:
    """`did you mean 'x'?` for the nearest legal word, or an empty string."""
    near = closest(word, legal)
    return f"did you mean '{near}'?" if near else ""


def expected(word: str, legal: Iterable[str], limit: int = 12) -> str:
    """Return a label for a bad word: the nearest legal one, and all of them if they are few."""
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


def _render_place(span: Span | None, headline: str, label: str) -> Iterator[str]:
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
    """Return what to show before, within and after the marked part of a line; `…` where it was cut."""
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
    """`text` with characters that would break or disturb the line written as escapes, and cut if it is too long."""
    if len(text) > MAX_MESSAGE:
        text = f"{text[: MAX_MESSAGE // 2]}…{text[-MAX_MESSAGE // 2 :]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _visible(text: str) -> str:
    """`text` with tabs widened and characters that steer a terminal replaced, so that carets line up."""
    if text.isascii() and text.isprintable():
        return text
    widened = text.replace("\t", " " * TAB_WIDTH)
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in _STEERING else c for c in widened)


_STEERING = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode's categories of characters that have no shape of their own but change how others are shown."""


def _width(text: str) -> int:
    """Terminal columns that `text` takes: two for wide East Asian characters, none for marks."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
