"""Splits the text of a JIT schema into tokens with their offsets.

It knows the alphabet of the schema language (names, numbers, quoted strings, punctuation) and
nothing of its grammar: that belongs to the types of `opgen.schema`, each of which reads itself from
a `Cursor`.

    add(Tensor self, int[] dim=[-2, -1])   ->   add ( Tensor self , int [ ] dim = [ -2 , -1 ] )
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, Generic, NoReturn, TypeVar

from opgen.diagnostics import Diagnostic, Note, Source, UserError

T = TypeVar("T")

_TOKEN: Final = re.compile(
    r"""
    \s*
    (?:
    (?P<name>[A-Za-z_]\w*)
  | (?P<number>-?(?:\d+\.?\d*|(?<!\w)\.\d+)(?:[eE][-+]?\d+)?)
  | (?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')
  | (?P<punctuation>->|::|\.\.\.|[()\[\]{}<>,?!*|=.:-])
  | (?P<end>\Z)
  | (?P<unreadable>.)
    )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

TORCH_WORDS: Final = frozenset(
    {
        *("Ellipsis", "False", "None", "NoneType", "True"),
        *("and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "for", "global", "if"),
        *("import", "in", "is", "not", "or", "pass", "raise", "return", "while", "with"),
    }
)
"""Words that torch's parser of schemas takes as no name."""


class SchemaError(UserError, ValueError):
    """A mistake in a schema: the message, and the offsets in the schema's text.

    Whoever knows where the text came from (a scalar of a YAML file) makes a diagnostic at that
    place from the parts; printed as it is, it shows the schema itself with a caret.
    """

    def __init__(self, text: str, start: int, end: int, id: str, message: str, label: str = "") -> None:
        source = Source("<schema>", text)
        super().__init__(Diagnostic(id, message, source.span(start, max(end, start + 1)), label))
        self.text, self.start, self.end = text, start, end
        self.id, self.message, self.label = id, message, label
        self.notes: tuple[Note, ...] = ()


class Cursor:
    """The tokens of one schema, read with one token of look-ahead."""

    __slots__ = ("depth", "ends", "fresh_sets", "index", "kinds", "liberal", "starts", "text", "texts")

    kinds: list[str]
    texts: list[str]
    starts: list[int]
    ends: list[int]

    def __init__(self, text: str, *, liberal: bool = False) -> None:
        self.text = text
        self.liberal = liberal
        """Whether to read all that torch's own parser reads, as for operators outside of torch."""
        self.fresh_sets = 0
        """How many alias sets `Tensor!` made."""
        self.index = 0
        self.depth = 0
        """Nesting depth of the type being read."""
        self._scan()

    def _scan(self) -> None:
        tokens = list(_TOKEN.finditer(self.text))
        self.kinds = [token.lastgroup or "" for token in tokens]
        if "unreadable" in self.kinds:
            raise self._unreadable(tokens[self.kinds.index("unreadable")].end() - 1)
        self.ends = [token.end() for token in tokens]
        self.texts = [token[kind] for token, kind in zip(tokens, self.kinds)]
        self.starts = [end - len(text) for end, text in zip(self.ends, self.texts)]

    def _unreadable(self, at: int) -> SchemaError:
        character = self.text[at]
        if character in "\"'":
            return SchemaError(
                self.text,
                at,
                len(self.text),
                "schema-syntax",
                "this string is not closed",
                f"add the closing {character}",
            )
        shown = f"'{character}'" if character.isprintable() else f"the character U+{ord(character):04X}"
        return SchemaError(self.text, at, at + 1, "schema-syntax", f"{shown} has no meaning in a schema")

    @property
    def kind(self) -> str:
        """Kind of the token ahead: name, number, string, punctuation or end."""
        return self.kinds[self.index]

    @property
    def ahead(self) -> str:
        """Text of the token ahead; empty at the end."""
        return self.texts[self.index]

    @property
    def start(self) -> int:
        """Offset at which the token ahead starts."""
        return self.starts[self.index]

    @property
    def previous_end(self) -> int:
        """Offset at which the token last taken ended."""
        return self.ends[self.index - 1] if self.index else 0

    def take(self) -> str:
        """Step past the token ahead and return its text."""
        text = self.texts[self.index]
        self.index += 1
        return text

    def accept(self, punctuation: str) -> bool:
        """Step past `punctuation` if it is ahead; return whether it was."""
        if self.texts[self.index] == punctuation and self.kinds[self.index] == "punctuation":
            self.index += 1
            return True
        return False

    def expect(self, punctuation: str, where: str) -> None:
        """Step past `punctuation`; raise a SchemaError that says it is expected `where` if it is not ahead."""
        if not self.accept(punctuation):
            self.fail_ahead(f"expected '{punctuation}' {where}")

    def name(self, what: str) -> str:
        """Step past a name and return it; raise a SchemaError that says `what` is expected if none is ahead."""
        if self.kind != "name":
            self.fail_ahead(f"expected {what}")
        return self.take()

    def check_word(self, what: str) -> None:
        """Raise a SchemaError if torch's parser doesn't take the word ahead as the name of `what`."""
        if self.kind == "name" and self.ahead in TORCH_WORDS:
            message = f"{what} can't be called '{self.ahead}': torch's schema parser reserves the word"
            self.fail(message, self.start, self.ends[self.index], "choose another name", "torch-word")

    def fresh_alias_set(self) -> str:
        """Return the name of an alias set that the text doesn't use; each call returns another one."""
        while True:
            name = f"a{self.fresh_sets}"
            self.fresh_sets += 1
            if name not in self.texts:
                return name

    def expect_end(self, what: str) -> None:
        """Raise a SchemaError unless everything was read."""
        if self.kind != "end":
            self.fail_ahead(f"expected nothing after {what}")

    def fail_ahead(self, message: str, label: str = "") -> NoReturn:
        """Raise a SchemaError at the token ahead."""
        found = f", found '{self.ahead}'" if self.kind != "end" else ", but the text ends here"
        self.fail(message + found, self.start, self.ends[self.index], label)

    def fail(self, message: str, start: int, end: int, label: str = "", id: str = "schema-syntax") -> NoReturn:
        """Raise a SchemaError at the given offsets."""
        raise SchemaError(self.text, start, end, id, message, label)


class Memo(Generic[T]):
    """A cache of parsed values by their text: equal texts are parsed once and give one value."""

    __slots__ = ("_end", "_parse", "_parsed")

    def __init__(self, parse: Callable[[Cursor], T], end: str) -> None:
        """Cache what `parse` reads; `end` is a pattern for the text that usually follows it."""
        self._parse, self._end = parse, re.compile(end)
        self._parsed: dict[str, tuple[T, int]] = {}
        """Each value, and how many tokens it has."""

    def read(self, cursor: Cursor) -> T:
        """Read the value ahead of `cursor`, or step past its tokens if it was parsed before.  Raises SchemaError."""
        first, start, end = cursor.index, cursor.start, self._end.search(cursor.text, cursor.start)
        text = cursor.text[start : end.start()] if end else ""
        parsed = self._parsed.get(text)
        if parsed is not None:
            cursor.index = first + parsed[1]
            return parsed[0]
        value = self._parse(cursor)
        if end is not None and cursor.previous_end == end.start():
            self._parsed[text] = (value, cursor.index - first)
        return value


def parse_whole(text: str, what: str, read: Callable[[Cursor], T]) -> T:
    """Return what `read` makes of the whole of `text`, which is `what` in messages.  Raises SchemaError."""
    cursor = Cursor(text)
    value = read(cursor)
    cursor.expect_end(what)
    return value
