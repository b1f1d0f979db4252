"""Reads definitions that are written plainly, without libyaml: a text → the nodes that libyaml would give.

Nearly every file of definitions is a list of mappings, at the start of a line, with texts of one line.

    - func: abs(Tensor self) -> Tensor
      variants: function, method         # comments
      dispatch:
        CPU, CUDA: abs
      tags: [core, 'pointwise']
      precomputed:
      - dim -> int dim, int valid

A text in double quotes may go on, and a `|` may stand before lines that are indented alike or deeper.

Whatever else there is makes its entry *odd*, and an odd entry is left to libyaml, from its `- ` to that of the next
one.  If that is not enough, because the file is no such list or because there is anything to be said about it, there
are no nodes, and libyaml must read all of it.  So every mistake is found by libyaml, and none is reported from here.

`tests/unit/test_yaml_plain.py` holds what is read here against libyaml, on texts of all kinds.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable
from types import MappingProxyType
from typing import Final, TypeAlias

from opgen.diagnostics import Source
from opgen.frontend.yaml_nodes import ListNode, MappingNode, Node, Scalar

MAX_DEPTH: Final = 8
"""Deepest nesting of mappings that is read here."""

_USUAL: Final = b"\n" + bytes(range(ord(" "), ord("~") + 1))
_SILENCE: Final = re.compile(r"(?: *(?:#[^\n]*)?\n)*")
_STRAY: Final = re.compile(r"^[^ #\n]", re.MULTILINE)
_KEY: Final = re.compile(r"(- (?=\w)| *)(\w[\w., ]{0,250})(?<! )", re.ASCII)
_STARTS: Final = frozenset(string.ascii_letters + string.digits + "_(/~$.+=<^;\\)")
"""Characters that a text without quotes may start with, whatever follows."""
_WORD: Final = r"""(?:\w[\w.]*|'[^']*'|"[^"\\]*")"""
_WORDS: Final = re.compile(_WORD, re.ASCII)
_LIST: Final = re.compile(rf"\[ *(?:{_WORD}(?: *, *{_WORD})*)? *\]", re.ASCII)
_FOLDED: Final = re.compile(r'"([^"\\\n]*(?:\n +[^"\\\n ][^"\\\n]*)*(?:\n +)?)"(?= *\n| +#)')
"""A text in double quotes over several lines, none of which is blank."""
_FOLD: Final = re.compile(r" *\n +")
_LITERAL: Final = re.compile(r"\|\n( +)[^ \n][^\n]*(?:\n\1 *[^ \n][^\n]*)*\n+(?! *\n|\1)")
"""A block of lines after a `|`, up to the next line that says something: no blank line stands in it."""
_ITEMS: Final = re.compile(r" *\n( +)- \w[^:#\n]*$(?:\n\1- \w[^:#\n]*$)*", re.ASCII | re.MULTILINE)
"""Lines with an item each, which is a text without quotes."""
_ITEM: Final = re.compile(r"(?<=- )\w[^\n]*(?<! )", re.ASCII)
_SILENT: Final = frozenset({"", "#"})
"""What a line begins with that says nothing."""
_new: Final = tuple.__new__
"""Makes a named tuple of its values in half the time that its class takes, as this is no Python code."""

Compose: TypeAlias = Callable[[int, int], Node | None]
"""Reads a stretch of the text with libyaml; None if there is anything to be said about it."""
_Pairs: TypeAlias = "dict[str, tuple[Scalar, Node]]"
_Keys: TypeAlias = "dict[str, tuple[int, str]]"
"""What stands before a colon: the column of the key, and the key."""


def read_plain(source: Source, compose: Compose) -> ListNode | None:
    """The root of a text that is written plainly; None if it must be read in another way."""
    text = source.text
    found = _SILENCE.match(text)
    first = found.end() if found else 0
    if not text.startswith("-", first) or not text.endswith("\n") or not _is_usual(text):
        return None
    starts, keys = _starts(text, first), dict[str, tuple[int, str]]()
    items: list[Node] = []
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        item = _Entry(source, keys).read(start, end) or _read_odd(source, start, end, compose)
        if item is None:
            return None
        items.append(item)
    return ListNode(tuple(items), source, first, items[-1].end)


def _is_usual(text: str) -> bool:
    """Whether there are only characters that look alike everywhere: no tabs, no accents."""
    return text.isascii() and not text.encode().translate(None, _USUAL)


def _starts(text: str, first: int) -> list[int]:
    """Where lines start with a `-`."""
    starts, at = [first], text.find("\n-", first)
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n-", at + 1)
    return starts


def _read_odd(source: Source, start: int, end: int, compose: Compose) -> Node | None:
    """The entry in a stretch of the text, as libyaml reads it; None if it can't be told from those around it."""
    if source.text[start + 1] not in " \n" or _STRAY.search(source.text[start + 1 : end]):
        return None
    root = compose(start, end)
    return root.items[0] if isinstance(root, ListNode) and len(root.items) == 1 else None


class _Entry:
    """Reads an entry line by line."""

    def __init__(self, source: Source, keys: _Keys) -> None:
        self.source = source
        self.keys = keys
        """Those of all entries so far: most entries have the same."""
        self.column = 2
        """Where the keys of the innermost open mapping stand."""
        self.pairs: _Pairs = {}
        """What was read of it."""
        self.waiting: Scalar | None = None
        """Its last key, if nothing stands behind it: a mapping may follow."""
        self.around: list[tuple[int, _Pairs, Scalar]] = []
        """The open mappings around it, with the key that each waits with."""

    def read(self, start: int, end: int) -> MappingNode | None:
        """The entry in a stretch of the text; None if it is odd."""
        source, keys, next_line = self.source, self.keys, start
        lines = iter(source.text[start:end].split("\n"))
        # Definitions have 10,000 such lines: what most of them are is looked for here, one by one.
        for line in lines:
            at, next_line = next_line, next_line + len(line) + 1
            head, colon, rest = line.partition(": ")
            if not colon:
                if line.lstrip(" ")[:1] in _SILENT:
                    continue
                if line[-1] != ":":
                    return None
                head = line[:-1]
            found = keys.get(head) or self.find_key(head)
            if found is None:
                if head.lstrip(" ")[:1] == "#":
                    continue
                return None
            column, key = found
            if (column != self.column or self.waiting is not None) and not self.move(column):
                return None
            if key in self.pairs:
                return None
            name = _new(Scalar, (key, source, at + column, at + column + len(key), ""))
            at = name.end + 2
            if rest[:1] in _STARTS and rest[-1] != " " and ":" not in rest and "#" not in rest:
                self.pairs[key] = (name, _new(Scalar, (rest, source, at, at + len(rest), "")))
            else:
                value = self.add(name, rest, at)
                if value is None:
                    return None
                while next_line < value.end:
                    next_line += len(next(lines)) + 1
        return self.whole()

    def find_key(self, head: str) -> tuple[int, str] | None:
        """The column and the text of the key in what stands before a colon."""
        found = _KEY.fullmatch(head)
        if found is None:
            return None
        self.keys[head] = found.start(2), found[2]
        return self.keys[head]

    def add(self, name: Scalar, rest: str, at: int) -> Node | None:
        """Adds a key and what stands behind it, from `at` on, and below; gives that, or the key if there is nothing."""
        written = rest.lstrip(" ")
        at += len(rest) - len(written)
        value: Node | None
        if written[:1] in _SILENT:
            value = _read_items(self.source, name.end + 1, self.column)
            if value is None:
                self.waiting = name
                return name
        elif written == "|":
            value = _read_literal(self.source, at, self.column)
        else:
            value = _READERS.get(written[0], _read_text)(self.source, written, at)
        if value is not None:
            self.pairs[name.text] = (name, value)
        return value

    def move(self, column: int) -> bool:
        """Turns to the mapping whose keys stand at `column`; whether there is one."""
        if self.waiting is not None and column > self.column:
            self.around.append((self.column, self.pairs, self.waiting))
            self.column, self.pairs, self.waiting = column, {}, None
            return len(self.around) < MAX_DEPTH
        while column < self.column and self.around:
            self.close()
        self.fill()
        return column == self.column

    def close(self) -> None:
        """Ends the innermost mapping."""
        node = self.mapping()
        self.column, self.pairs, name = self.around.pop()
        self.pairs[name.text] = (name, node)

    def whole(self) -> MappingNode:
        """The entry, once all its lines are read."""
        while self.around:
            self.close()
        return self.mapping()

    def mapping(self) -> MappingNode:
        """The innermost mapping, as far as it was read."""
        self.fill()
        entries = tuple(self.pairs.values())
        return _new(MappingNode, (entries, self.source, entries[0][0].start, entries[-1][1].end))

    def fill(self) -> None:
        """Gives the key that waits an empty text, which stands behind its colon."""
        if self.waiting is not None:
            name, at = self.waiting, self.waiting.end + 1
            self.pairs[name.text] = (name, Scalar("", self.source, at, at))
            self.waiting = None


# ------------------------------------------------------------- values, from their first character to the line's end


def _read_text(source: Source, written: str, at: int) -> Scalar | None:
    """A text without quotes; None if it is none."""
    text = written.partition(" #")[0].rstrip(" ")
    starts_well = text[0] in _STARTS or (text[0] == "-" and text[1:2] not in ("", " "))
    if not starts_well or ": " in text or text[-1] == ":":
        return None
    return Scalar(text, source, at, at + len(text))


def _read_quoted(source: Source, written: str, at: int) -> Scalar | None:
    """A text in quotes that means what it says; None if there are escapes in it."""
    text, closing, after = written[1:].partition(written[0])
    if not closing:
        return _read_folded(source, at)
    if not _is_silent(after) or (closing == '"' and "\\" in text):
        return None
    return Scalar(text, source, at, at + len(text) + 2, closing)


def _read_folded(source: Source, at: int) -> Scalar | None:
    """A text in double quotes that goes on; None if it is none, or if there are escapes or blank lines in it."""
    found = _FOLDED.match(source.text, at)
    return Scalar(_FOLD.sub(" ", found[1]), source, at, found.end(), '"') if found else None


def _read_literal(source: Source, at: int, column: int) -> Scalar | None:
    """A block of lines under a key at `column`, from its `|` on; None if it is anything but plain."""
    found = _LITERAL.match(source.text, at)
    if found is None or len(found[1]) <= column:
        return None
    lines = found[0][2:].rstrip("\n").split("\n")
    text = "".join([line[len(found[1]) :] + "\n" for line in lines])
    return Scalar(text, source, at, found.end(), "|")


def _read_items(source: Source, at: int, column: int) -> ListNode | None:
    """The list on the lines that follow `at`, just behind the colon of a key at `column`; None if there is none."""
    found = _ITEMS.match(source.text, at)
    if found is None or len(found[1]) < column:
        return None
    words = _ITEM.finditer(source.text, found.start(), found.end())
    items = tuple([Scalar(word[0], source, *word.span()) for word in words])
    return ListNode(items, source, found.end(1), items[-1].end)


def _read_empty_mapping(source: Source, written: str, at: int) -> MappingNode | None:
    """The mapping `{}`; None if there is anything in it."""
    is_empty = written.startswith("{}") and _is_silent(written[2:])
    return MappingNode((), source, at, at + 2) if is_empty else None


def _read_list(source: Source, written: str, at: int) -> ListNode | None:
    """A list of words in brackets; None if there is anything else in them."""
    found = _LIST.match(written)
    if found is None or not _is_silent(written[found.end() :]):
        return None
    items = tuple([_item(word, source, at) for word in _WORDS.finditer(found[0])])
    return ListNode(items, source, at, at + found.end())


def _item(found: re.Match[str], source: Source, at: int) -> Scalar:
    word, start, end = found[0], at + found.start(), at + found.end()
    is_quoted = word[0] in "'\""
    return Scalar(word[1:-1] if is_quoted else word, source, start, end, word[0] if is_quoted else "")


_READERS: Final = MappingProxyType({"'": _read_quoted, '"': _read_quoted, "[": _read_list, "{": _read_empty_mapping})
"""What reads a value, by its first character."""


def _is_silent(rest: str) -> bool:
    """Whether nothing but a comment follows."""
    return not rest or (rest[0] == " " and rest.lstrip(" ")[:1] in _SILENT)
