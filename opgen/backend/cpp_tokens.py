"""C++ source text → its tokens as the compiler sees them, with the macros that the text itself defines expanded.

Comments are removed, a string is one token, and lines that end in a backslash are joined.  Of conditional
parts only `#if 0` is skipped, since the conditions of others are unknown.  Macros of other files aren't
expanded.

    #define UNARY(name) at::Tensor Mine::name(const at::Tensor & self)
    UNARY(abs);                      →  at :: Tensor Mine :: abs ( const at :: Tensor & self ) ;

Each token has its location; a token from a macro has the location of the macro's use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from opgen.frozen_dataclass import dataclass

MAX_DEPTH: Final = 32
"""Maximum nesting depth of expanded macros, which ends recursive ones."""
MAX_EXPANDED: Final = 500_000
"""Maximum number of tokens that macros may expand to."""

_SCANNER: Final = re.compile(
    r"""
      (?P<space>[^\S\n]+|\\\n|//(?:\\\n|[^\n])*|/\*[\s\S]*?(?:\*/|\Z))
    | (?P<line>\n)
    | (?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\([\s\S]*?\)(?P=mark)")
    | (?P<text>(?:u8|[uUL])?"(?:[^"\\\n]|\\[\s\S])*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\[\s\S])+')
    | (?P<name>[^\W\d]\w*)
    | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
    | (?P<mark_>::|->|\#\#|.)
    """,
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token and its location."""

    text: str
    start: int
    end: int
    is_name: bool


@dataclass(frozen=True, slots=True)
class _Macro:
    """A macro."""

    parameters: tuple[str, ...] | None
    """None for an object-like macro."""
    body: tuple[Token, ...]


def expand(text: str) -> list[Token]:
    """Return the tokens of a source."""
    return _Preprocessor().read(text)


def _lines(text: str) -> Iterator[list[Token]]:
    """Yield the tokens of each logical line, without comments."""
    line: list[Token] = []
    for found in _SCANNER.finditer(text):
        kind = found.lastgroup
        if kind == "line":
            yield line
            line = []
        elif kind != "space":
            line.append(Token(found.group(), found.start(), found.end(), kind == "name"))
    yield line


class _Preprocessor:
    """Collects macros as they are defined, and expands them where they are used."""

    def __init__(self) -> None:
        self._macros: dict[str, _Macro] = {}
        self._out: list[Token] = []
        self._may_bring = MAX_EXPANDED

    def read(self, text: str) -> list[Token]:
        pending: list[Token] = []
        left_out = 0
        for line in _lines(text):
            if not line or line[0].text != "#":
                if not left_out:
                    pending += line
                continue
            word = line[1].text if len(line) > 1 else ""
            left_out = _depth_left_out(word, line, left_out)
            if word in ("define", "undef") and not left_out:
                # The preceding tokens are expanded with the macros defined so far.
                self._expand(pending, self._macros, 0)
                pending = []
                self._define(word, line[2:])
        self._expand(pending, self._macros, 0)
        return self._out

    def _define(self, word: str, rest: Sequence[Token]) -> None:
        if not rest or not rest[0].is_name:
            return
        name = rest[0]
        if word == "undef":
            self._macros.pop(name.text, None)
            return
        takes = len(rest) > 1 and rest[1].text == "(" and rest[1].start == name.end
        parameters, body = None, tuple(rest[1:])
        if takes:
            close = next((at for at, token in enumerate(rest) if token.text == ")"), len(rest))
            inside = "".join([token.text for token in rest[2:close]])
            parameters = tuple(part.removesuffix("...") or "__VA_ARGS__" for part in inside.split(",") if part)
            body = tuple(rest[close + 1 :])
        self._macros[name.text] = _Macro(parameters, body)

    def _expand(self, tokens: Sequence[Token], macros: Mapping[str, _Macro], depth: int) -> None:
        """Add the tokens to the output, with macros replaced by their bodies."""
        at = 0
        while at < len(tokens) and (not depth or self._may_bring > 0):
            token = tokens[at]
            macro = macros.get(token.text) if token.is_name and depth < MAX_DEPTH else None
            at += 1
            self._may_bring -= depth > 0
            if macro is None:
                self._out.append(token)
                continue
            arguments: tuple[Sequence[Token], ...] = ()
            if macro.parameters is not None:
                if at >= len(tokens) or tokens[at].text != "(":
                    self._out.append(token)
                    continue
                arguments, at = _arguments(tokens, at)
            body = list(_substituted(macro, arguments, token))
            # A macro doesn't expand itself.
            self._expand(body, {name: each for name, each in macros.items() if each is not macro}, depth + 1)


def _depth_left_out(word: str, line: Sequence[Token], depth: int) -> int:
    """Return the number of open conditionals since one that is skipped; 0 if none is skipped."""
    if word.startswith("if"):
        if depth:
            return depth + 1
        return 1 if word == "if" and [token.text for token in line[2:]] == ["0"] else 0
    if word == "endif":
        return max(0, depth - 1)
    return 0 if depth == 1 and word in ("else", "elif") else depth


def _arguments(tokens: Sequence[Token], opened: int) -> tuple[tuple[Sequence[Token], ...], int]:
    """Return the arguments in the parentheses at `opened`, and the index where these close."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for at in range(opened, len(tokens)):
        text = tokens[at].text
        depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            return tuple(parts), at + 1
        if text == "," and depth == 1:
            parts.append([])
        elif at != opened:
            parts[-1].append(tokens[at])
    return tuple(parts), len(tokens)


def _substituted(macro: _Macro, arguments: Sequence[Sequence[Token]], used: Token) -> Iterator[Token]:
    """Yield the macro's body with its arguments substituted and `##` applied."""
    known = _bound(macro.parameters or (), arguments)
    glue: Token | None = None
    held: Token | None = None
    for token in macro.body:
        if token.text == "##":
            glue = token
            continue
        for each in known.get(token.text, (token,)) if token.is_name else (token,):
            placed = Token(each.text, used.start, used.end, each.is_name)
            if held is not None and glue is not None:
                held = Token(held.text + placed.text, used.start, used.end, held.is_name)
            else:
                if held is not None:
                    yield held
                held = placed
            glue = None
    if held is not None:
        yield held


def _bound(parameters: Sequence[str], arguments: Sequence[Sequence[Token]]) -> dict[str, Sequence[Token]]:
    """Return the arguments by parameter; a variadic last parameter takes the rest."""
    known: dict[str, Sequence[Token]] = {
        name: tuple(argument) for name, argument in zip(parameters, arguments, strict=False)
    }
    if parameters and parameters[-1] == "__VA_ARGS__":
        comma = Token(",", 0, 0, is_name=False)
        rest: list[Token] = []
        for argument in arguments[len(parameters) - 1 :]:
            rest += [comma, *argument] if rest else argument
        known["__VA_ARGS__"] = tuple(rest)
    return known
