r"""Offsets in the text of a scalar → offsets in the file, across quotes, escapes and folding.

The two differ because of YAML's escapes, doubled quotes, line folding and block indentation.  The
source is split into pieces that must be part of the text (words, escapes, lines of a block), which
are then located in the text one after the other; white space between pieces belongs to the piece
before it.

    source  'it''s
              so'           text  it's so        text offset 5 ('s' of 'so')  ->  source offset 11
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

from opgen.frozen_dataclass import dataclass

_BREAKS: Final = "\n\r\x85\u2028\u2029"
"""The line breaks of YAML 1.1."""
_SPACES: Final = " \t" + _BREAKS

# Compiled on demand: only spans within a scalar need these.
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
class TextOffsets:
    """For each character of a text, the half-open range of its offsets in the source."""

    starts: tuple[int, ...]
    ends: tuple[int, ...]
    first: int
    """The offset at which the text begins: after an opening quote."""

    def offsets(self, start: int, end: int) -> tuple[int, int]:
        """Return the source range of the characters `start` to `end`, clamped to the text."""
        count = len(self.starts)
        start = max(0, min(start, count))
        if start == count:
            last = self.ends[-1] if count else self.first
            return last, last
        if end <= start:
            return self.starts[start], self.starts[start]
        return self.starts[start], self.ends[min(end, count) - 1]


def text_offsets(source: str, text: str, style: str) -> TextOffsets:
    """Return the range of each character of `text` in `source`, its spelling in YAML's `style`."""
    starts: list[int] = []
    ends: list[int] = []
    first = 1 if style in ("'", '"') else 0
    for piece, start, end in _pieces(source, text, style):
        offset = text.find(piece, len(starts))
        if offset < 0:
            continue
        _fill(starts, ends, offset, ends[-1] if ends else first, start)
        exact = end - start == len(piece)
        starts += range(start, end) if exact else [start] * len(piece)
        ends += range(start + 1, end + 1) if exact else [end] * len(piece)
    _fill(starts, ends, len(text), ends[-1] if ends else first, len(source))
    return TextOffsets(tuple(starts), tuple(ends), first)


def _fill(starts: list[int], ends: list[int], count: int, begin: int, limit: int) -> None:
    """Extend the ranges to `count` characters with white space from `begin` up to `limit`."""
    gap = count - len(starts)
    starts += (min(begin + i, limit) for i in range(gap))
    ends += (min(begin + i + 1, limit) for i in range(gap))


def _pieces(source: str, text: str, style: str) -> Iterator[tuple[str, int, int]]:
    """Yield the parts of `source` that are text, with escapes resolved, each with its range."""
    if style in ("|", ">"):
        yield from _block_lines(source, text)
    elif style == '"':
        for match in re.compile(_DOUBLE).finditer(source, 1, len(source) - 1):
            yield _resolved(match.group()), *match.span()
    elif style == "'":
        for match in re.compile(_SINGLE).finditer(source, 1, len(source) - 1):
            yield ("'" if match.group() == "''" else match.group()), *match.span()
    else:
        for match in re.compile(_WORDS).finditer(source):
            yield match.group(), *match.span()


def _resolved(part: str) -> str:
    """Return a part of a double-quoted scalar with its escape resolved."""
    if not part.startswith("\\"):
        return part
    if part[1] in "xuU":
        return chr(int(part[2:], 16))
    return "" if part[1] in _BREAKS else _ESCAPES.get(part[1], part[1])


def _block_lines(source: str, text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the lines of a block scalar that have text, without the block's indentation."""
    header = re.compile(_BLOCK_HEADER).match(source)
    lines = [m for m in re.compile(_LINES).finditer(source, header.end() if header else 0) if m.group().strip()]
    if not lines:
        return
    first = text.lstrip("\n")
    kept = len(first) - len(first.lstrip(" "))
    indent = len(lines[0].group()) - len(lines[0].group().lstrip(" ")) - kept
    for line in lines:
        yield line.group()[indent:], line.start() + indent, line.end()
