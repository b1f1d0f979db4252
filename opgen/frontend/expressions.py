"""Checks the syntax of a C++ expression.

    find_syntax_error("grad * other.conj()")      None
    find_syntax_error("grad * ")                  SyntaxProblem("expected a value after '*'", …)
    find_syntax_error("grad other")               SyntaxProblem("expected an operator between 'grad' and 'other'", …)

An expression alternates between operands and operators, so one pass over the tokens with a stack of open brackets is
enough; precedence doesn't affect syntactic validity.  Statements inside a lambda's body are
read as tokens with matching brackets.  The time is linear in the length of the text, whatever the nesting depth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import MappingProxyType
from typing import Final, NamedTuple, NoReturn

from opgen.frozen_dataclass import dataclass

_SCANNER: Final = re.compile(
    r"""
    (?P<space>\s+|/\*.*?\*/)
  | (?P<comment>//[^\n]*|/\*.*)
  | (?P<text>(?:u8|[uUL])?R"(?P<mark>[^\s()\\"]{0,16})\(.*?\)(?P=mark)"
           | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"
           | (?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<quote>["'])
  | (?P<word>[^\W\d]\w*)
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<punctuation><=>|->\*|\.\.\.|<<=|>>=|->|::|\+\+|--|&&|\|\||[<>=!+\-*/%&|^]=|\.\*|[-+*/%<>=!~&|^?:.,;()\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)
_NUMBER: Final = re.compile(
    r"""
    (?!0[\d']*[89][\d']*[uUlLzZ]*$)  # octal digits are less than 8
    (?: 0[xX][\dA-Fa-f']+(?:\.[\dA-Fa-f]*)?(?:[pP][+-]?\d+)?
      | 0[bB][01']+
      | (?:\d[\d']*\.?[\d']*|\.\d[\d']*)(?:[eE][+-]?\d+)?
    )
    (?:[uUlLzZ]{0,3}|[fF])(?:_\w+)?
    """,
    re.VERBOSE,
)
_PREFIXES: Final = frozenset({"+", "-", "!", "~", "*", "&", "not", "compl", "new", "throw", "sizeof"})
_BINARY: Final = frozenset(
    {
        *("+", "-", "*", "/", "%", "&", "|", "^", "&&", "||", "<", ">", "<=", ">=", "==", "!=", "<=>", ".*", "->*"),
        *("and", "or", "xor", "bitand", "bitor", "not_eq"),
    }
)
_ASSIGNMENTS: Final = frozenset(
    {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "and_eq", "or_eq", "xor_eq"} | {"++", "--"}
)
_STATEMENTS: Final = frozenset(
    {
        *("if", "else", "for", "while", "do", "switch", "case", "default", "return", "break", "continue", "goto"),
        *("try", "catch", "using", "typedef", "namespace", "template", "struct", "class", "enum", "union", "auto"),
        *("const", "static", "constexpr", "extern", "volatile", "inline", "delete", "operator", "typename", "friend"),
    }
)
_CLOSING: Final = MappingProxyType({"(": ")", "[": "]", "{": "}"})
_WORD_AFTER_TEMPLATE: Final = ("(", "{", "::")


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """A syntax error."""

    id: str
    """The id of the diagnostic."""
    message: str
    start: int
    """Offset of the first offending character."""
    end: int
    label: str = ""
    is_lexical: bool = False
    """Whether the text from `start` on cannot be split into tokens."""


class Token(NamedTuple):
    """A token of C++ and its range."""

    kind: str
    """One of word, number, text, punctuation, and end for the last one."""
    text: str
    start: int
    end: int


_START: Final = Token("start", "", 0, 0)


class _NotAnExpressionError(Exception):
    def __init__(self, problem: SyntaxProblem) -> None:
        self.problem = problem


def find_syntax_error(text: str) -> SyntaxProblem | None:
    """Return the first syntax error in the C++ expression `text`; None if it is valid."""
    try:
        _Recognizer(scan(text)).run()
    except _NotAnExpressionError as error:
        return error.problem
    return None


def _error(
    id: str, message: str, start: int, end: int, label: str = "", *, is_lexical: bool = False
) -> _NotAnExpressionError:
    return _NotAnExpressionError(SyntaxProblem(id, message, start, end, label, is_lexical))


def _fail(message: str, token: Token, label: str = "") -> _NotAnExpressionError:
    return _error("formula-syntax", message, token.start, token.end, label)


def _fail_unbalanced(message: str, token: Token) -> _NotAnExpressionError:
    return _error("unbalanced-formula", message, token.start, token.end)


def _fail_to_scan(message: str, start: int, end: int, label: str = "") -> NoReturn:
    raise _error("formula-syntax", message, start, end, label, is_lexical=True)


def scan(text: str) -> list[Token]:
    """Split `text`, which must have no lexical error, into tokens; the last has the kind `end`."""
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = _SCANNER.match(text, position)
        if match is None:
            character = text[position]
            shown = f"'{character}'" if character.isprintable() else f"the character U+{ord(character):04X}"
            _fail_to_scan(f"{shown} has no meaning in a C++ expression", position, position + 1)
        kind, end = match.lastgroup or "", match.end()
        if kind == "comment":
            label = "write '/* … */'" if match.group().startswith("//") else "add the closing '*/'"
            _fail_to_scan("a comment hides the code that follows it", position, end, label)
        if kind == "quote":
            label = f"add the closing {match.group()}"
            message = "this string has no end"
            raise _error("unbalanced-formula", message, position, len(text), label, is_lexical=True)
        if kind == "number" and not _NUMBER.fullmatch(match.group()):
            _fail_to_scan(f"'{match.group()}' is neither a number nor a name", position, end)
        if kind != "space":
            tokens.append(Token("text" if kind == "mark" else kind, match.group(), position, end))
        position = end
    tokens.append(Token("end", "", len(text), len(text)))
    return tokens


def template_ends(tokens: Sequence[Token]) -> list[int | None]:
    """Return, for each token, the index of the `>` that ends the template arguments it may be part of."""
    ends: list[int | None] = [None] * (len(tokens) + 1)
    for index in range(len(tokens) - 2, -1, -1):
        token, after = tokens[index], tokens[index + 1].text
        if token.text == ">":
            ends[index] = index if after in _WORD_AFTER_TEMPLATE else ends[index + 1] if after == ">" else None
        elif token.kind in ("word", "number") or token.text in ("::", "<", ",", "&", "*"):
            ends[index] = ends[index + 1]
    return ends


class _Recognizer:
    """Parses the tokens in one pass: `index` is the next token, `open` the unclosed brackets and `?`."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self.tokens = tokens
        self.template_ends = template_ends(tokens)
        self.index = 0
        self.open: list[Token] = []
        self.calls: list[bool] = []
        """For each open bracket, whether it may be empty: a call, an index or an initializer list."""
        self.less: list[int] = [0]
        """For each level of brackets, how many `<` may open template arguments."""

    @property
    def ahead(self) -> Token:
        return self.tokens[self.index]

    @property
    def previous(self) -> Token:
        return self.tokens[self.index - 1] if self.index else _START

    def run(self) -> None:
        """Read all tokens; raises _NotAnExpressionError."""
        wants_operand = True
        while wants_operand or self.ahead.kind != "end":
            wants_operand = self._operand() if wants_operand else self._operator()
        if self.open:
            raise self._unclosed(self.open[-1])

    def _unclosed(self, opened: Token) -> _NotAnExpressionError:
        if opened.text == "?":
            return _fail("expected ':' after '?'", opened)
        return _fail_unbalanced(f"'{opened.text}' is not closed", opened)

    # Each method reads at least one token and returns whether an operand must follow.

    def _operand(self) -> bool:
        token = self.ahead
        if token.text in _PREFIXES:
            self.index += 1
            return True
        if token.kind in ("number", "text"):
            return self._literal()
        if token.kind == "word" or token.text == "::":
            return self._name()
        if token.text == "(":
            return self._push(may_be_empty=False)
        if token.text == "[":
            return self._lambda()
        if token.text == "{" and self._is_initializer():
            return self._push(may_be_empty=True)
        if token.text in (")", "]", "}") and self._may_close_here(token):
            return self._pop()
        if self.previous.text == ">" and self.less[-1]:
            self.less[-1] -= 1
            return False  # `is_same_v<A, B>` without a following operand
        raise self._missing_operand()

    def _missing_operand(self) -> _NotAnExpressionError:
        token, previous = self.ahead, self.previous
        opened = self.open[-1].text if self.open else ""
        if token.text in _CLOSING.values() and _CLOSING.get(opened, "" if not opened else token.text) != token.text:
            return self._stray(token)
        if token.kind == "end" and opened in _CLOSING:
            return self._unclosed(self.open[-1])
        if token.text in _STATEMENTS:
            return _fail(f"'{token.text}' starts a statement", token, "a formula is one expression")
        if previous.kind == "start":
            return _fail("expected an expression", token if token.kind != "end" else Token("", "", 0, 1))
        where = previous if token.kind == "end" else token
        return _fail(f"expected a value after '{previous.text}'", where)

    def _literal(self) -> bool:
        self.index += 1
        while self.previous.kind == self.ahead.kind == "text":
            self.index += 1
        return False

    def _name(self) -> bool:
        """Read a name with its namespaces and template arguments."""
        if self.ahead.text in _STATEMENTS:
            raise self._missing_operand()
        if self.ahead.text == "::":
            self.index += 1
        while True:
            if self.ahead.kind != "word":
                raise _fail("expected a name after '::'", self.ahead if self.ahead.kind != "end" else self.previous)
            self.index += 1
            self._template_arguments()
            if self.ahead.text != "::":
                return False
            self.index += 1

    def _template_arguments(self) -> None:
        end = self.template_ends[self.index + 1] if self.ahead.text == "<" else None
        if end is not None:
            self.index = end + 1

    def _push(self, *, may_be_empty: bool) -> bool:
        self.open.append(self.ahead)
        self.calls.append(may_be_empty)
        self.less.append(0)
        self.index += 1
        return True

    def _pop(self) -> bool:
        token = self.ahead
        opened = self.open[-1] if self.open else None
        if opened is not None and opened.text == "?":
            raise self._unclosed(opened)
        if opened is None or _CLOSING[opened.text] != token.text:
            raise self._stray(token)
        self.open.pop()
        self.calls.pop()
        self.less.pop()
        self.index += 1
        return False

    def _stray(self, token: Token) -> _NotAnExpressionError:
        within = f": '{self.open[-1].text}' is still open" if self.open else ""
        return _fail_unbalanced(f"unmatched '{token.text}'{within}", token)

    def _may_close_here(self, token: Token) -> bool:
        """Return whether a bracket may close instead of an operand: it is empty, or a list with a trailing comma."""
        if not self.open or self.open[-1].text == "?" or not self.calls[-1]:
            return False
        return self.previous is self.open[-1] or (self.previous.text == "," and token.text == "}")

    def _is_initializer(self) -> bool:
        """Return whether a list in braces may be an operand here: it is an argument, or an element of such a list."""
        return bool(self.open) and self.previous.text in ("(", "{", ",") and self.calls[-1]

    def _lambda(self) -> bool:
        self._skip_brackets()
        if self.ahead.text == "(":
            self._skip_brackets()
        while self.ahead.text != "{":
            if self.ahead.kind == "end":
                raise _fail("expected the body of a lambda, or an array in front of '['", self.previous)
            self.index += 1
        self._skip_brackets()
        return False

    def _skip_brackets(self) -> None:
        """Skip a bracket and its contents."""
        depth: list[Token] = []
        while True:
            token = self.ahead
            if token.kind == "end":
                raise self._unclosed(depth[-1])
            if token.text in _CLOSING and token.kind == "punctuation":
                depth.append(token)
            elif token.kind == "punctuation" and token.text in _CLOSING.values():
                if _CLOSING[depth[-1].text] != token.text:
                    message = f"unmatched '{token.text}': '{depth[-1].text}' is still open"
                    raise _fail_unbalanced(message, token)
                depth.pop()
            self.index += 1
            if not depth:
                return

    def _operator(self) -> bool:
        token = self.ahead
        text = token.text if token.kind in ("punctuation", "word") else ""
        if text in ("(", "["):
            return self._push(may_be_empty=text == "(")
        if text == "{" and (self.previous.kind == "word" or self.previous.text == ">"):
            return self._push(may_be_empty=True)
        if text in (".", "->"):
            return self._member()
        if text in _BINARY:
            return self._binary(text)
        if text in (")", "]", "}"):
            return self._pop()
        if token.kind in ("word", "number", "text") and self.previous.text == ")" and self._is_cast():
            return True
        return self._separator(token, text)

    def _is_cast(self) -> bool:
        """Return whether the parentheses just closed may hold a type, as in `(int64_t) x`."""
        index = self.index - 2
        while self.tokens[index].kind == "word" or self.tokens[index].text in ("::", "<", ">", ",", "&", "*"):
            index -= 1
        return self.tokens[index].text == "(" and self.tokens[index + 1].kind == "word"

    def _separator(self, token: Token, text: str) -> bool:
        opened = self.open[-1].text if self.open else ""
        if text == "?":
            self.open.append(token)
            self.calls.append(False)
            self.less.append(0)
        elif text == ":" and opened == "?":
            self.open.pop()
            self.calls.pop()
            self.less.pop()
        elif text == "," and opened == "?":
            raise self._unclosed(self.open[-1])
        elif not (text == "," and opened):
            raise self._missing_operator(token)
        self.index += 1
        return True

    def _missing_operator(self, token: Token) -> _NotAnExpressionError:
        if token.text in _ASSIGNMENTS:
            label = "write '==' to compare" if token.text == "=" else ""
            return _fail("a formula computes a value; it can't assign", token, label)
        if token.text in (";", ","):
            return _fail("a formula is one expression, without ',' or ';' outside of brackets", token)
        message = f"expected an operator between '{self.previous.text}' and '{token.text}'"
        return _fail(message, token)

    def _member(self) -> bool:
        """Read `.name` or `->name`, with template arguments."""
        dot = self.ahead
        self.index += 1
        if self.ahead.text == "template":
            self.index += 1
        if self.ahead.kind != "word":
            raise _fail(f"expected the name of a member after '{dot.text}'", dot)
        self.index += 1
        self._template_arguments()
        return False

    def _binary(self, text: str) -> bool:
        self.index += 1
        if text == "<":
            self.less[-1] += 1
        if text in ("<", ">") and self.ahead.text == text and self.ahead.start == self.previous.end:
            self.index += 1  # a shift
        return True
