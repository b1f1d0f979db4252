"""The text of a schema → its tokens, one after the other, with their offsets.

    add(Tensor self, int[] dim=[-2, -1])   →   add ( Tensor self , int [ ] dim = [ -2 , -1 ] )

Tokens are names, numbers, quoted strings and punctuation.  The grammar is not here: each type of `opgen.schema` reads
itself from a `Cursor`.
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
  | (?P<number>-?(?:\d+(?:\.\d*)?|(?<!\w)\.\d+)(?:[eE][-+]?\d+)?)
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
"""Words that torch's schema parser doesn't accept as names."""


class SchemaError(UserError, ValueError):
    """An error in a schema: the message, and the offsets in the schema's text.

    A caller that knows the source of the text, such as a scalar of a YAML file, builds a diagnostic
    with that location from the parts.  Its own message shows the schema with a caret.
    """

    def __init__(self, text: str, start: int, end: int, id: str, message: str, label: str = "") -> None:
        source = Source("<schema>", text)
        super().__init__(Diagnostic(id, message, source.span(start, max(end, start + 1)), label))
        self.text, self.start, self.end = text, start, end
        self.id, self.message, self.label = id, message, label
        self.notes: tuple[Note, ...] = ()


class Cursor:
    """A scanner for the text of a schema, with one token of lookahead."""

    __slots__ = ("ahead", "depth", "end", "fresh_sets", "kind", "lenient", "previous_end", "start", "text")

    kind: str
    """Kind of the next token: name, number, string, punctuation or end."""
    ahead: str
    """Text of the next token; empty at the end."""
    start: int
    """Start of the next token."""
    end: int
    """End of the next token."""

    def __init__(self, text: str, *, lenient: bool = False) -> None:
        """Put the cursor before the first token of `text`.  Raises SchemaError."""
        self.text = text
        self.lenient = lenient
        """Whether to accept everything that torch's own parser accepts, as for operators outside of torch."""
        self.fresh_sets = 0
        """The number of alias sets created for `Tensor!`."""
        self.depth = 0
        """Nesting depth of the type being read."""
        self.skip_to(0)

    def skip_to(self, offset: int) -> None:
        """Skip to `offset`.  Raises SchemaError if no token follows."""
        token = _TOKEN.match(self.text, offset)
        assert token is not None
        kind = token.lastgroup or ""
        if kind == "unreadable":
            raise self._unreadable(token.end() - 1)
        self.kind, self.ahead, self.end = kind, token[kind], token.end()
        self.start = self.end - len(self.ahead)
        self.previous_end = offset
        """The end of the last taken token."""

    def _unreadable(self, offset: int) -> SchemaError:
        character = self.text[offset]
        if character in "\"'":
            return SchemaError(
                self.text,
                offset,
                len(self.text),
                "schema-syntax",
                "this string is not closed",
                f"add the closing {character}",
            )
        shown = f"'{character}'" if character.isprintable() else f"the character U+{ord(character):04X}"
        return SchemaError(self.text, offset, offset + 1, "schema-syntax", f"{shown} has no meaning in a schema")

    def is_followed_by(self, punctuation: str) -> bool:
        """Return whether `punctuation` follows the next token."""
        token = _TOKEN.match(self.text, self.end)
        return token is not None and token["punctuation"] == punctuation

    def take(self) -> str:
        """Consume the next token and return its text."""
        text = self.ahead
        self.skip_to(self.end)
        return text

    def accept(self, punctuation: str) -> bool:
        """Consume `punctuation` if it is the next token; return whether it was."""
        if self.ahead == punctuation and self.kind == "punctuation":
            self.skip_to(self.end)
            return True
        return False

    def expect(self, punctuation: str, where: str) -> None:
        """Consume `punctuation`; raise a SchemaError that it is expected `where` if it isn't the next token."""
        if not self.accept(punctuation):
            self.fail_ahead(f"expected '{punctuation}' {where}")

    def name(self, what: str) -> str:
        """Consume and return a name; raise a SchemaError that `what` is expected if the next token isn't a name."""
        if self.kind != "name":
            self.fail_ahead(f"expected {what}")
        return self.take()

    def check_word(self, what: str) -> None:
        """Raise a SchemaError if torch's parser doesn't accept the next token as the name of `what`."""
        if self.kind == "name" and self.ahead in TORCH_WORDS:
            message = f"{what} can't be called '{self.ahead}': torch's schema parser reserves the word"
            self.fail(message, self.start, self.end, "choose another name", "torch-word")

    def fresh_alias_set(self) -> str:
        """Return a new name of an alias set that the text doesn't use."""
        while True:
            name = f"a{self.fresh_sets}"
            self.fresh_sets += 1
            if not re.search(rf"\b{name}\b", self.text):
                return name

    def expect_end(self, what: str) -> None:
        """Raise a SchemaError unless everything was read."""
        if self.kind != "end":
            self.fail_ahead(f"expected nothing after {what}")

    def fail_ahead(self, message: str, label: str = "") -> NoReturn:
        """Raise a SchemaError at the next token."""
        found_text = f", found '{self.ahead}'" if self.kind != "end" else ", but the text ends here"
        self.fail(message + found_text, self.start, self.end, label)

    def fail(self, message: str, start: int, end: int, label: str = "", id: str = "schema-syntax") -> NoReturn:
        """Raise a SchemaError at the given offsets, or at a later character that has no meaning in a schema."""
        while self.kind != "end":
            self.take()
        raise SchemaError(self.text, start, end, id, message, label)


class Memo(Generic[T]):
    """A memo of parsed values by their text."""

    __slots__ = ("_end", "_parse", "_parsed")

    def __init__(self, parse: Callable[[Cursor], T], end: str) -> None:
        """Memoize `parse`; `end` is a pattern for the text that usually follows the value."""
        self._parse, self._end = parse, re.compile(end)
        self._parsed: dict[str, T] = {}

    def read(self, cursor: Cursor) -> T:
        """Read the next value, or skip its tokens if it was parsed before.  Raises SchemaError."""
        end = self._end.search(cursor.text, cursor.start)
        if end is None:
            return self._parse(cursor)
        text = cursor.text[cursor.start : end.start()]
        if text in self._parsed:
            cursor.skip_to(end.start())
            return self._parsed[text]
        value = self._parse(cursor)
        if cursor.previous_end == end.start():
            self._parsed[text] = value
        return value


def parse_whole(text: str, what: str, read: Callable[[Cursor], T]) -> T:
    """Parse the whole of `text` with `read`; `what` names it in messages.  Raises SchemaError."""
    cursor = Cursor(text)
    value = read(cursor)
    cursor.expect_end(what)
    return value
