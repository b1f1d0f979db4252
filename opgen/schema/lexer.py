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
    """An error in a schema: the message, and the offsets in the schema's text.

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
    """A place in the text of a schema, with the token ahead of it; the text is scanned token by token."""

    __slots__ = ("ahead", "depth", "end", "fresh_sets", "kind", "liberal", "previous_end", "start", "text")

    kind: str
    """Kind of the token ahead: name, number, string, punctuation or end."""
    ahead: str
    """Text of the token ahead; empty at the end."""
    start: int
    """Offset at which the token ahead starts."""
    end: int
    """Offset at which the token ahead ends."""

    def __init__(self, text: str, *, liberal: bool = False) -> None:
        """Put the cursor before the first token of `text`.  Raises SchemaError."""
        self.text = text
        self.liberal = liberal
        """Whether to read all that torch's own parser reads, as for operators outside of torch."""
        self.fresh_sets = 0
        """How many alias sets `Tensor!` made."""
        self.depth = 0
        """Nesting depth of the type being read."""
        self.skip_to(0)

    def skip_to(self, offset: int) -> None:
        """Step past the text before `offset`.  Raises SchemaError if no token follows."""
        token = _TOKEN.match(self.text, offset)
        assert token is not None
        kind = token.lastgroup or ""
        if kind == "unreadable":
            raise self._unreadable(token.end() - 1)
        self.kind, self.ahead, self.end = kind, token[kind], token.end()
        self.start = self.end - len(self.ahead)
        self.previous_end = offset
        """Offset at which the token last taken ended."""

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

    def is_followed_by(self, punctuation: str) -> bool:
        """Return whether `punctuation` comes after the token ahead."""
        token = _TOKEN.match(self.text, self.end)
        return token is not None and token["punctuation"] == punctuation

    def take(self) -> str:
        """Step past the token ahead and return its text."""
        text = self.ahead
        self.skip_to(self.end)
        return text

    def accept(self, punctuation: str) -> bool:
        """Step past `punctuation` if it is ahead; return whether it was."""
        if self.ahead == punctuation and self.kind == "punctuation":
            self.skip_to(self.end)
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
            self.fail(message, self.start, self.end, "choose another name", "torch-word")

    def fresh_alias_set(self) -> str:
        """Return the name of an alias set that the text doesn't use; each call returns another one."""
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
        """Raise a SchemaError at the token ahead."""
        found = f", found '{self.ahead}'" if self.kind != "end" else ", but the text ends here"
        self.fail(message + found, self.start, self.end, label)

    def fail(self, message: str, start: int, end: int, label: str = "", id: str = "schema-syntax") -> NoReturn:
        """Raise a SchemaError at the given offsets, or at a character further on that has no meaning in a schema."""
        while self.kind != "end":
            self.take()
        raise SchemaError(self.text, start, end, id, message, label)


class Memo(Generic[T]):
    """A cache of parsed values by their text: equal texts are parsed once and give one value."""

    __slots__ = ("_end", "_parse", "_parsed")

    def __init__(self, parse: Callable[[Cursor], T], end: str) -> None:
        """Cache what `parse` reads; `end` is a pattern for the text that usually follows it."""
        self._parse, self._end = parse, re.compile(end)
        self._parsed: dict[str, T] = {}

    def read(self, cursor: Cursor) -> T:
        """Read the value ahead of `cursor`, or step past its tokens if it was parsed before.  Raises SchemaError."""
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
    """Return what `read` makes of the whole of `text`, which is `what` in messages.  Raises SchemaError."""
    cursor = Cursor(text)
    value = read(cursor)
    cursor.expect_end(what)
    return value
