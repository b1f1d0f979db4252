r"""The text of a template → segments, so that substitution needs no pattern matching.

    "f($x);\n$if y\n  $y\n$endif\n"
    →  "f(",  Inline(x),  ");\n",  Conditional(y, body=(Splice(y, indent="  "), "\n"))

The parser knows no values: `template` substitutes them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.diagnostics import Diagnostic, Note, Source, Span, UserError
from opgen.frozen_dataclass import dataclass

_NAME: Final = r"[^\W\d]\w*"
_PATH: Final = rf"{_NAME}(?:\.{_NAME})*"
_REFERENCE: Final = re.compile(
    rf"\$(?:(?P<dollar>\$)|(?P<bare>{_NAME})|\{{(?P<before>,?)(?P<braced>{_PATH})(?P<after>,?)\}})"
)
_LINES: Final = re.compile(r"(?:[^$\n]*\n)+|[^\n]*\n|[^\n]+")
_COMMENT: Final = re.compile(r"[^\n\S]*\$#")
_DIRECTIVE: Final = re.compile(
    r"[^\n\S]*(?P<whole>\$(?P<word>if|else|endif|for|endfor|insert|elif|elseif|elsif)\b[^\n]*)"
)
_SECTION: Final = re.compile(rf"\$section[ ]+(?P<name>{_NAME})[ ]*\n?\Z")
_CONDITION: Final = re.compile(rf"\s+(?P<negation>not\s+)?(?P<path>{_PATH})\s*\Z")
_INSERTION: Final = re.compile(rf"\s+(?P<path>{_PATH})\s*\Z")
_ITERATION: Final = re.compile(rf"\s+(?P<item>{_NAME})\s+in\s+(?P<path>{_PATH})\s*\Z")

MAX_DEPTH: Final = 32
"""Maximum nesting depth of blocks."""
DIRECTIVES: Final = ("if", "else", "endif", "for", "endfor", "insert")
_FORMS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "if": "$if name, or $if not name",
        "else": "$else, alone on its line",
        "endif": "$endif, alone on its line",
        "for": "$for item in items",
        "endfor": "$endfor, alone on its line",
        "insert": "$insert name",
    }
)
_CLOSERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"if": ("else", "endif"), "else": ("endif",), "for": ("endfor",)}
)


@dataclass(frozen=True, slots=True)
class Reference:
    """A mention of a variable."""

    name: str
    """The variable."""
    fields: tuple[str, ...]
    """The fields taken of it, one after the other."""
    span: Span
    """The location of the path."""

    @property
    def path(self) -> tuple[str, ...]:
        """The name, then the fields."""
        return (self.name, *self.fields)


@dataclass(frozen=True, slots=True)
class Splice:
    """A reference that comes first on its line: its value may take several lines."""

    reference: Reference
    indent: str
    """The indentation of every line of the value."""


@dataclass(frozen=True, slots=True)
class Inline:
    """A reference with text before it on its line: a list is joined by commas."""

    reference: Reference
    comma_before: bool
    """Whether a list that isn't empty gets a comma before it."""
    comma_after: bool
    """Whether a list that isn't empty gets a comma after it."""


@dataclass(frozen=True, slots=True)
class Conditional:
    """`$if … $else … $endif`."""

    reference: Reference
    """The condition."""
    negated: bool
    """Whether `not` was written."""
    body: tuple[Segment, ...]
    otherwise: tuple[Segment, ...]
    """The segments between `$else` and `$endif`."""


@dataclass(frozen=True, slots=True)
class Loop:
    """`$for … $endfor`."""

    item: str
    """The loop variable."""
    reference: Reference
    """The items."""
    body: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Insertion:
    """`$insert …`: lines that are inserted unchanged."""

    reference: Reference


Segment: TypeAlias = "str | Splice | Inline | Conditional | Loop | Insertion"


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of the source with its newline, or several in a row that have no dollar."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class _Directive:
    """A block line."""

    word: str
    rest: str
    """The text after the word."""
    span: Span
    """Its location, from the dollar on."""

    def reference(self, match: re.Match[str]) -> Reference:
        """Return the variable that `match`, found in `rest`, names as its path."""
        start = len(self.word) + 1
        return _reference(match["path"], self.span.sub(start + match.start("path"), start + match.end("path")))


def parse_template(source: Source) -> tuple[Segment, ...]:
    """Return the segments of a template's text.  Raises UserError."""
    segments, _ = _parse_block(_lines(source), None, 0)
    return segments


def parse_sections(source: Source) -> dict[str, tuple[Segment, ...]]:
    """Return the segments of each section of a file of snippets, by the name in its `$section` line.

    Blank lines at the end of a section and text before the first section are dropped.  Raises UserError.
    """
    sections: dict[str, list[_Line]] = {}
    lines: list[_Line] = []
    for line in _lines(source):
        head = _SECTION.match(line.text)
        if head is None:
            lines.append(line)
            continue
        lines = sections[head["name"]] = []
    for lines in sections.values():
        while lines and not lines[-1].text.strip("\n"):
            lines.pop()
        if lines:
            lines[-1] = _Line(lines[-1].text.rstrip("\n") + "\n", lines[-1].span)
    return {name: _parse_block(iter(lines), None, 0)[0] for name, lines in sections.items()}


def _lines(source: Source) -> Iterator[_Line]:
    """Yield the lines of a template without its comments."""
    # Not splitlines(): only a newline ends a line of a template.
    start = 0
    for text in _LINES.findall(source.text):
        if not _COMMENT.match(text):
            yield _Line(text, source.span(start, start + len(text)))
        start += len(text)


def _parse_block(
    lines: Iterator[_Line], opener: _Directive | None, depth: int
) -> tuple[tuple[Segment, ...], _Directive | None]:
    """Return the segments up to the directive that ends the block of `opener`, and that directive."""
    if opener and depth > MAX_DEPTH:
        message, label = f"blocks are nested more than {MAX_DEPTH} deep", "move the inner ones to the emitter"
        raise _error("template-nested-too-deep", message, opener.span, label)
    segments: list[Segment] = []
    for line in lines:
        directive = _directive(line)
        if directive is None:
            segments += _parse_line(line)
        elif directive.word == "if":
            segments.append(_parse_conditional(directive, lines, depth + 1))
        elif directive.word == "for":
            segments.append(_parse_loop(directive, lines, depth + 1))
        elif directive.word == "insert":
            segments.append(_parse_insertion(directive))
        elif opener and directive.word in _CLOSERS[opener.word]:
            return _merged(segments), directive
        else:
            raise _stray(directive, opener)
    if opener:
        closer = _CLOSERS[opener.word][-1]
        raise _error("template-unclosed-block", f"${opener.word} without ${closer}", opener.span)
    return _merged(segments), None


def _directive(line: _Line) -> _Directive | None:
    """Return the directive on `line`, if its first word is one.  Raises UserError if it is malformed."""
    match = _DIRECTIVE.match(line.text)
    if match is None:
        return None
    span = line.span.sub(match.start("whole"), match.start("whole") + len(match["whole"].rstrip()))
    word, rest = match["word"], line.text[match.end("word") :]
    if word not in DIRECTIVES:
        advice = "nest another $if in the $else"
        raise _error("template-unknown-directive", f"unknown directive '${word}'", span, advice)
    if word not in ("if", "for", "insert") and rest.strip():
        raise _malformed(_Directive(word, rest, span))
    return _Directive(word, rest, span)


def _parse_conditional(opener: _Directive, lines: Iterator[_Line], depth: int) -> Conditional:
    match = _CONDITION.match(opener.rest)
    if match is None:
        raise _malformed(opener)
    body, closer = _parse_block(lines, opener, depth)
    otherwise: tuple[Segment, ...] = ()
    if closer and closer.word == "else":
        otherwise, _ = _parse_block(lines, closer, depth)
    return Conditional(opener.reference(match), match["negation"] is not None, body, otherwise)


def _parse_loop(opener: _Directive, lines: Iterator[_Line], depth: int) -> Loop:
    match = _ITERATION.match(opener.rest)
    if match is None:
        raise _malformed(opener)
    body, _ = _parse_block(lines, opener, depth)
    return Loop(match["item"], opener.reference(match), body)


def _parse_insertion(directive: _Directive) -> Insertion:
    match = _INSERTION.match(directive.rest)
    if match is None:
        raise _malformed(directive)
    return Insertion(directive.reference(match))


def _parse_line(line: _Line) -> Iterator[Segment]:
    """Yield the segments of a line without a directive."""
    position = 0
    for match in _REFERENCE.finditer(line.text):
        lead = line.text[position : match.start()]
        position = match.end()
        if match["dollar"]:
            yield lead + "$"
            continue
        name = "bare" if match["bare"] else "braced"
        reference = _reference(match[name], line.span.sub(match.start(name), match.end(name)))
        if lead == line.text[: match.start()] and not lead.strip():
            yield Splice(reference, lead)
        else:
            yield lead
            yield Inline(reference, bool(match["before"]), bool(match["after"]))
    yield line.text[position:]


def _reference(path: str, span: Span) -> Reference:
    name, *fields = path.split(".")
    return Reference(name, tuple(fields), span)


def _merged(segments: list[Segment]) -> tuple[Segment, ...]:
    """Return `segments` with adjacent texts joined and empty ones dropped."""
    merged: list[Segment] = []
    for is_text, group in groupby(segments, lambda segment: isinstance(segment, str)):
        adjacent = list(group)
        merged += filter(None, ["".join(map(str, adjacent))]) if is_text else adjacent
    return tuple(merged)


def _error(id: str, message: str, span: Span, label: str = "", note: Note | None = None) -> UserError:
    return UserError(Diagnostic(id, message, span, label, (note,) if note else ()))


def _malformed(directive: _Directive) -> UserError:
    message = f"malformed ${directive.word}"
    return _error("template-malformed-directive", message, directive.span, f"expected {_FORMS[directive.word]}")


def _stray(directive: _Directive, opener: _Directive | None) -> UserError:
    if opener is None:
        missing = "for" if directive.word == "endfor" else "if"
        return _error("template-stray-directive", f"${directive.word} without ${missing}", directive.span)
    message = f"${directive.word} can't end a ${opener.word} block"
    label = f"expected {' or '.join('$' + word for word in _CLOSERS[opener.word])}"
    return _error("template-stray-directive", message, directive.span, label, Note("block begins here", opener.span))
