"""The values that YAML text becomes: frozen nodes with their locations in the file.

Three kinds of node: `Scalar`, `ListNode`, `MappingNode`.  A scalar is the text as written: nothing
is typed by YAML's implicit rules, so `on`, `010`, `1e3`, `~` and a key named `no` stay what they
are.  `nodes` parses them.
"""

from __future__ import annotations

import re
from typing import NamedTuple, TypeAlias

from opgen.diagnostics import Source, Span
from opgen.frontend.scalar_text import text_offsets

_COMMENT = re.compile(r"[ \t]+(#[^\n\r\x85\u2028\u2029]*)")

# Named tuples, since torch's definitions have 24,000 scalars, and objects with slots take twice as long to create.


class Scalar(NamedTuple):
    """A text with quotes and escapes resolved, not otherwise interpreted."""

    text: str
    source: Source
    start: int
    """Offset of the first character, the opening quote or block indicator included."""
    end: int
    style: str = ""
    """Empty for a plain scalar; otherwise its first character: one of `'`, `"`, `|`, `>`."""

    def __repr__(self) -> str:
        return f"Scalar({self.text!r}, {self.start}, {self.end}, {self.style!r})"

    @property
    def span(self) -> Span:
        """The span of the scalar, with its quotes."""
        return Span(self.source, self.start, self.end)

    @property
    def is_plain(self) -> bool:
        """Whether it has neither quotes nor block style."""
        return not self.style

    @property
    def is_empty(self) -> bool:
        """Whether the value is missing (`key:`), as opposed to an empty string (`''`)."""
        return not self.style and not self.text

    def span_at(self, start: int, end: int) -> Span:
        """Return the span of the characters `start` to `end` of `text`, despite quotes and folding."""
        if not self.style and self.end - self.start == len(self.text):
            return Span(self.source, self.start + start, self.start + end)
        places = text_offsets(self.source.text[self.start : self.end], self.text, self.style)
        first, last = places.offsets(start, end)
        return Span(self.source, self.start + first, self.start + last)

    def trailing_comment(self) -> Span | None:
        """Return the span of a comment after a plain scalar, which may be meant as text; None if there is none."""
        match = _COMMENT.match(self.source.text, self.end) if self.is_plain else None
        return Span(self.source, *match.span(1)) if match else None


class ListNode(NamedTuple):
    """A list of nodes, in block or flow style."""

    items: tuple[Node, ...]
    source: Source
    start: int
    end: int

    def __repr__(self) -> str:
        return f"ListNode({self.items!r}, {self.start}, {self.end})"

    @property
    def span(self) -> Span:
        """Its span, from its first indicator to the end of its last item."""
        return Span(self.source, self.start, self.end)


class MappingNode(NamedTuple):
    """Keys and values in file order; keys are unique."""

    entries: tuple[tuple[Scalar, Node], ...]
    source: Source
    start: int
    end: int

    def __repr__(self) -> str:
        return f"MappingNode({self.entries!r}, {self.start}, {self.end})"

    @property
    def span(self) -> Span:
        """Its span, from its first key to the end of its last value."""
        return Span(self.source, self.start, self.end)

    def get(self, key: str) -> Node | None:
        """Return the value of `key`; None if it is missing."""
        for name, value in self.entries:
            if name.text == key:
                return value
        return None

    def key(self, key: str) -> Scalar | None:
        """Return the node of the key `key`; None if it is missing."""
        return next((name for name, _ in self.entries if name.text == key), None)


Node: TypeAlias = Scalar | ListNode | MappingNode
