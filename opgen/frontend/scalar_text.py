r"""Offsets in the text of a scalar → offsets in the file, across quotes, escapes and folding.

YAML's escapes, doubled quotes, line folding and block indentation make the two differ.  The written
form is cut into pieces that are surely part of the text (words, escapes, lines of a block), which
are then found in the text one after the other; white space between pieces goes with the piece
before it.

    written  'it''s
               so'          text  it's so        text offset 5 ('s' of 'so')  ->  written offset 11
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from opgen.frozen_dataclass import dataclass

_BREAKS: Final = "\n\r\x85\u2028\u2029"
"""What ends a line in YAML 1.1."""
_SPACES: Final = " \t" + _BREAKS

# Only places within a text ask for these: they are compiled then, not when a command starts.
_WORDS = f"[^{_SPACES}]+"
_SINGLE = f"''|[^'{_SPACES}]+"
_DOUBLE = rf"\\(?:x..|u.{{4}}|U.{{8}}|[{_BREAKS}]|.)|[^\\{_SPACES}]+"
_BLOCK_HEADER = f"[^{_BREAKS}]*"
_LINES = f"[^{_BREAKS}]+"

_ESCAPES: Final = MappingProxyType(
    {
        "0": "\0",
        "a": "\a",
        "b": "\b",
        "t": "\t",
        "n": "\n",
        "v": "\v",
        "f": "\f",
        "r": "\r",
        "e": "\x1b",
        "N": "\x85",
        "_": "\xa0",
        "L": "\u2028",
        "P": "\u2029",
    }
)


@dataclass(frozen=True, slots=True)
class TextPlaces:
    """For each character of a text, the half-open range of offsets where it was written."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    first: int
    """Where the text begins: after an opening quote."""

    def offsets(self, start: int, end: int) -> tuple[int, int]:
        """Return the range where the characters `start` to `end` were written; clamped to the text."""
        count = len(self.starts)
        start = max(0, min(start, count))
        if start == count:
            last = self.ends[-1] if count else self.first
            return last, last
        if end <= start:
            return self.starts[start], self.starts[start]
        return self.starts[start], self.ends[min(end, count) - 1]


def text_places(written: str, text: str, style: str) -> TextPlaces:
    """Return where each character of `text` stands in `written`, its form in YAML's `style`."""
    starts: list[int] = []
    ends: list[int] = []
    first = 1 if style in ("'", '"') else 0
    for piece, start, end in _pieces(written, text, style):
        at = text.find(piece, len(starts))
        if at < 0:
            continue
        _fill(starts, ends, at, ends[-1] if ends else first, start)
        exact = end - start == len(piece)
        starts += range(start, end) if exact else [start] * len(piece)
        ends += range(start + 1, end + 1) if exact else [end] * len(piece)
    _fill(starts, ends, len(text), ends[-1] if ends else first, len(written))
    return TextPlaces(tuple(starts), tuple(ends), first)


def _fill(starts: list[int], ends: list[int], count: int, begin: int, limit: int) -> None:
    """Extends the ranges to `count` characters with white space from `begin` up to `limit`."""
    gap = count - len(starts)
    starts += (min(begin + i, limit) for i in range(gap))
    ends += (min(begin + i + 1, limit) for i in range(gap))


def _pieces(written: str, text: str, style: str) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of `written` that are text, with escapes resolved, each with its range."""
    if style in ("|", ">"):
        yield from _block_lines(written, text)
    elif style == '"':
        for found in re.compile(_DOUBLE).finditer(written, 1, len(written) - 1):
            yield _resolved(found.group()), *found.span()
    elif style == "'":
        for found in re.compile(_SINGLE).finditer(written, 1, len(written) - 1):
            yield ("'" if found.group() == "''" else found.group()), *found.span()
    else:
        for found in re.compile(_WORDS).finditer(written):
            yield found.group(), *found.span()


def _resolved(part: str) -> str:
    """Return what a part of a double-quoted scalar stands for."""
    if not part.startswith("\\"):
        return part
    if part[1] in "xuU":
        return chr(int(part[2:], 16))
    return "" if part[1] in _BREAKS else _ESCAPES.get(part[1], part[1])


def _block_lines(written: str, text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the lines of a block scalar that have text, without the block's indentation."""
    header = re.compile(_BLOCK_HEADER).match(written)
    lines = [m for m in re.compile(_LINES).finditer(written, header.end() if header else 0) if m.group().strip()]
    if not lines:
        return
    first = text.lstrip("\n")
    kept = len(first) - len(first.lstrip(" "))
    indent = len(lines[0].group()) - len(lines[0].group().lstrip(" ")) - kept
    for line in lines:
        yield line.group()[indent:], line.start() + indent, line.end()
