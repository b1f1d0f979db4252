"""Exceptions of a YAML loader → diagnostics that say how to fix the file.

The loader's messages ('mapping values are not allowed in this context') are about YAML's grammar; users
need to know which value to quote or which bracket to close.  Each kind of problem is a row of `_KINDS`.

    ops.yaml:3:11: error: this value contains ': ', which starts a mapping in YAML [yaml-quote]
        3 |   result: a ? b : c
          |           ^^^^^^^^^ quote this value
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import yaml

from opgen.diagnostics import Diagnostic, Note, Source, Span
from opgen.frozen_dataclass import dataclass

MAX_CHARACTERS: Final = 20
"""Maximum number of illegal characters that are reported for a file."""

# Compiled on demand: only errors need these.
_ILLEGAL = "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
_KEY = r"(?:[ \t]*-(?=[ \t]))*[ \t]*[^\s#][^\n]*?:[ \t]+(?=\S)"
_WORD_WITHOUT_COLON = r"[ \t]*(?:-[ \t]+)*(func|name)[ \t]+[\w:.]+[ \t]*\("
_LEAD = r"[ \t]*(?:-[ \t]+)*"


@dataclass(frozen=True, slots=True)
class _Problem:
    """An error of the loader: its message, its offset, and the offset at which the construct began."""

    words: str
    source: Source
    offset: int
    since: int

    def span(self, length: int = 1) -> Span:
        return self.source.span(self.offset, self.offset + length)

    def line_rest(self, offset: int) -> Span:
        """From `offset` to the end of its line, white space at the end left out."""
        line = self.source.position(offset)[0]
        start = self.source.line_starts()[line - 1]
        text = self.source.line(line)
        return self.source.span(offset, max(offset + 1, start + len(text.rstrip())))

    def line_start(self, offset: int) -> int:
        return self.source.line_starts()[self.source.position(offset)[0] - 1]


def explain(error: Exception, source: Source) -> tuple[Diagnostic, ...]:
    """Return the diagnostics for an error of a YAML loader in `source`; at least one."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return _illegal_characters(source) or (Diagnostic("yaml-syntax", "this is not YAML", source.span(0, 1)),)
    mark = error.problem_mark or error.context_mark
    offset = mark.index if mark else 0
    since = error.context_mark.index if error.context_mark else offset
    words = f"{error.context or ''}: {error.problem or ''}"
    problem = _Problem(words, source, min(offset, len(source.text)), min(since, len(source.text)))
    return (next(make(problem) for pattern, make in _KINDS if re.search(pattern, words)),)


def _illegal_characters(source: Source) -> tuple[Diagnostic, ...]:
    offsets = [m.start() for m, _ in zip(re.finditer(_ILLEGAL, source.text), range(MAX_CHARACTERS))]
    return tuple(
        Diagnostic(
            "bad-character",
            f"the character U+{ord(source.text[offset]):04X} is not allowed in YAML",
            source.span(offset, offset + 1),
            "remove it, or write it as an escape in double quotes",
        )
        for offset in offsets
    )


def _mapping_in_value(problem: _Problem) -> Diagnostic:
    """Return a `: ` in a plain value; or a line that is indented so that it continues the value above."""
    start = problem.line_start(problem.offset)
    key = re.compile(_KEY).match(problem.source.text, start, problem.offset)
    if key:
        message = "this value contains ': ', which starts a mapping in YAML"
        return Diagnostic("yaml-quote", message, problem.line_rest(key.end()), "quote this value")
    word = re.compile(_WORD_WITHOUT_COLON).match(problem.source.text, problem.line_start(max(start - 1, 0)), start)
    if word:
        span = problem.source.span(word.start(1), word.end(1))
        return Diagnostic("yaml-colon", f"a colon is missing after '{word[1]}'", span, f"write '{word[1]}: ...'")
    lead = re.compile(_LEAD).match(problem.source.text, start)
    message = "this line reads as part of the value above it, so it can't contain ': '"
    label = "indent it like its sibling keys, or quote the whole value"
    return Diagnostic("yaml-indent", message, problem.line_rest(lead.end() if lead else start), label)


def _list_in_value(problem: _Problem) -> Diagnostic:
    label = "write the list on lines of its own, or quote this value if it is text"
    return Diagnostic(
        "yaml-quote", "a list can't start on the line of its key", problem.line_rest(problem.offset), label
    )


def _bad_start(problem: _Problem) -> Diagnostic:
    """Return a tab, or a character that YAML reserves."""
    character = problem.source.text[problem.offset : problem.offset + 1]
    if character == "\t":
        return _tab(problem)
    message = f"a plain value can't start with '{character}'"
    return Diagnostic("yaml-quote", message, problem.line_rest(problem.offset), "quote this value")


def _tab(problem: _Problem) -> Diagnostic:
    return Diagnostic("yaml-tab", "tabs can't indent in YAML", problem.span(), "use spaces")


def _not_a_key(problem: _Problem) -> Diagnostic:
    message = "this line is neither 'key: value' nor part of the value above it"
    label = "put ': ' after the key, or indent the line deeper than the key it belongs to"
    return Diagnostic("yaml-syntax", message, problem.line_rest(problem.since), label)


def _open_quote(problem: _Problem) -> Diagnostic:
    span = problem.source.span(problem.since, problem.since + 1)
    return Diagnostic("yaml-syntax", "this quote is never closed", span, "close it, or quote the whole value")


def _open_bracket(problem: _Problem) -> Diagnostic:
    opening = problem.source.text[problem.since : problem.since + 1]
    opened = problem.source.span(problem.since, problem.since + 1)
    label = "quote the whole value if it is text"
    if problem.source.text.find("\n", problem.since, problem.offset) >= 0:
        return Diagnostic("yaml-syntax", f"this '{opening}' is not closed on its line", opened, label)
    closing = "]" if opening == "[" else "}"
    notes = (Note(f"'{opening}' was opened here", opened),)
    return Diagnostic("yaml-syntax", f"expected ',' or '{closing}'", problem.span(), label, notes)


def _escape(problem: _Problem) -> Diagnostic:
    start = problem.source.text.find("\\", problem.offset - 1)
    span = problem.source.span(start, start + 2) if start >= 0 else problem.span()
    label = "write '\\\\' for a backslash, or use single quotes"
    return Diagnostic("yaml-syntax", "this is not an escape in double quotes", span, label)


def _expected_key(problem: _Problem) -> Diagnostic:
    label = "quote the whole value if this belongs to it, or fix the indentation"
    return Diagnostic("yaml-syntax", "expected 'key: value' here", problem.line_rest(problem.offset), label)


def _expected_entry(problem: _Problem) -> Diagnostic:
    label = "start it with '- ', or indent it like the keys of the entry above"
    return Diagnostic("yaml-syntax", "expected the next entry of a list here", problem.line_rest(problem.offset), label)


def _block_header(problem: _Problem) -> Diagnostic:
    label = "put the text on the lines below, or quote this value"
    message = "'|' and '>' start a block of text; nothing may follow them on their line"
    return Diagnostic("yaml-quote", message, problem.line_rest(problem.since), label)


def _nesting(problem: _Problem) -> Diagnostic:
    return Diagnostic("yaml-nesting", "this is nested too deep", problem.span())


def _other(problem: _Problem) -> Diagnostic:
    words = problem.words.rpartition(": ")[2]
    return Diagnostic("yaml-syntax", f"this is not YAML: {words}", problem.line_rest(problem.offset))


_KINDS: Final[tuple[tuple[str, Callable[[_Problem], Diagnostic]], ...]] = (
    ("mapping values are not allowed", _mapping_in_value),
    ("sequence entries are not allowed", _list_in_value),
    ("cannot start any token", _bad_start),
    ("found a tab character", _tab),
    ("could not find expected ':'", _not_a_key),
    ("quoted scalar: found unexpected (end of stream|document)", _open_quote),
    ("flow (sequence|mapping): ", _open_bracket),
    ("unknown escape", _escape),
    ("nesting depth", _nesting),
    ("block mapping: ", _expected_key),
    ("block (collection|sequence): ", _expected_entry),
    ("scanning a block scalar: ", _block_header),
    ("", _other),
)
"""Patterns of the messages of libyaml and of PyYAML's loader, and their diagnostics; the first match counts."""
