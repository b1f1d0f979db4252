r"""Two texts -> None when they say the same, or the first place where they don't.

C++ is compared as preprocessing tokens: comments and white space don't count, everything else does. String, raw
string and character literals are one token each (`//` in a string is no comment), a preprocessor line is one token
(its end of line counts, the space between `#define NAME` and `(` counts), and a backslash at the end of a line
joins it to the next. YAML is compared as data and Python as a syntax tree. All other texts are compared as lines.

It doesn't parse: `> >` and `>>` are different tokens here, as they are to a preprocessor.

    compare_texts("ops/abs.h", "int f(int a);  // x", "int f(int b);")
    -> ops/abs.h: first difference at 1:11 | 1:11, in f
         expected: int f ( int >>a<< ) ;
         actual:   int f ( int >>b<< ) ;
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

CPP_SUFFIXES: Final = frozenset({".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh", ".mm", ".inl"})
BEFORE: Final = 8
"""Tokens of context shown before a difference."""
AFTER: Final = 10
"""Tokens of context shown after a difference."""

_RAW: Final = r'(?:u8|[uUL])?R"(?P<{0}>[^\s()\\]{{0,16}})\([\s\S]*?\)(?P={0})"\w*'
_STRING: Final = r'(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"\w*'
_CHARACTER: Final = r"(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'\w*"
_BLOCK_COMMENT: Final = r"/\*[\s\S]*?\*/"
_LINE_COMMENT: Final = r"//[^\n]*"
_NUMBER: Final = r"\.?\d(?:[eEpP][+-]|'\w|[\w.])*"
_NAME: Final = r"[^\W\d]\w*"
_PUNCTUATION: Final = (
    r"<=>|<<=|>>=|->\*|\.\.\.|::|->|\.\*|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|\#\#"
)
_DIRECTIVE_BODY: Final = (
    rf"(?:{_RAW.format('inner')}|\w+|{_BLOCK_COMMENT}|{_LINE_COMMENT}|{_STRING}|{_CHARACTER}|[^\n])*"
)
_DIRECTIVE: Final = rf"\n(?:[^\S\n]|{_BLOCK_COMMENT})*\#{_DIRECTIVE_BODY}"
# Ordinary names and numbers come after the literals that may begin with a letter, which only match before a quote.
_TOKEN: Final = rf"{_DIRECTIVE}|{_RAW.format('outer')}|{_STRING}|{_CHARACTER}|{_NAME}|{_NUMBER}|{_PUNCTUATION}|[^\s]"
_SCANNER: Final = re.compile(
    rf"[^\S\n]+|\n(?!(?:[^\S\n]|{_BLOCK_COMMENT})*\#)|{_LINE_COMMENT}|{_BLOCK_COMMENT}|(?P<token>{_TOKEN})"
)
_INSIDE_DIRECTIVE: Final = re.compile(
    rf"\s+|{_LINE_COMMENT}|{_BLOCK_COMMENT}"
    rf"|(?P<token>{_RAW.format('outer')}|{_STRING}|{_CHARACTER}|{_NAME}|{_NUMBER}|{_PUNCTUATION}|\S)"
)
_INCLUDE: Final = re.compile(r"\#\s*(include|include_next|import)\b\s*(<[^>\n]*>|\"[^\"\n]*\")")
_OVER_LINES: Final = re.compile(r"/\*(?!.*\*/)|R\"[^\s()\\]{0,16}\(")
_FUNCTION_MACRO: Final = re.compile(r"\#\s*define\s+(\w+)\(")
_SPLICES: Final = re.compile(
    rf"{_RAW.format('raw')}|\w+|{_BLOCK_COMMENT}|//(?:\\\n|[^\n])*|(?:u8|[uUL])?\"(?:[^\"\\\n]|\\(?:.|\n))*\"|\\\n"
)
_OPERATOR: Final = re.compile(
    r"aten::[a-zA-Z_]\w*(?:\.\w+)?"
    r"|\bm\.(?:impl|def)\(\s*\"(?P<registered>[\w:.]+)"
    r"|\b(?:struct|class)\s+(?:TORCH_API\s+)?(?P<struct>\w+)"
    r"|^[^\S\n]*(?:[\w:<>,&*~]+[^\S\n]+)+[&*]*(?P<function>(?:\w+::)*(?!(?:if|for|while|switch|return|else)\b)\w+)\(",
    re.MULTILINE,
)
_LOOK_BACK: Final = 20_000
"""How far before a difference its operator is looked for."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The first place where two files of the same name don't say the same."""

    path: str
    where: str
    """Positions in both texts, or the path of a key in data."""
    expected: str
    actual: str
    operator: str = ""
    """What the place belongs to: an operator, a struct or a function. Empty when there is none before it."""

    def __str__(self) -> str:
        belongs = f", in {self.operator}" if self.operator else ""
        return (
            f"{self.path}: first difference at {self.where}{belongs}\n"
            f"  expected: {self.expected}\n"
            f"  actual:   {self.actual}"
        )


def compare_texts(path: str, expected: str, actual: str) -> Difference | None:
    """The first difference in meaning between two texts of a file, chosen by the suffix of its name."""
    if expected == actual:
        return None
    suffix = PurePosixPath(path).suffix
    if suffix in CPP_SUFFIXES:
        return compare_cpp(path, expected, actual)
    if suffix in {".yaml", ".yml"}:
        return compare_yaml(path, expected, actual)
    if suffix in {".py", ".pyi"}:
        return compare_python(path, expected, actual)
    return compare_lines(path, expected, actual)


def tokens_of(text: str) -> list[str]:
    """All tokens of a C++ text; a preprocessor line is one of them, with single spaces inside."""
    return [_canonical(token) for token in _tokens(_joined(text))]


def compare_cpp(path: str, expected: str, actual: str) -> Difference | None:
    """The first differing token of two C++ texts."""
    if _have_same_lines(expected, actual):
        return None
    expected, actual = _joined(expected), _joined(actual)
    left, right = _tokens(expected), _tokens(actual)
    if left == right:
        return None
    left, right = [_canonical(token) for token in left], [_canonical(token) for token in right]
    if left == right:
        return None
    index = _first_difference(left, right)
    left_offset, right_offset = _offset_of(expected, index), _offset_of(actual, index)
    return Difference(
        path,
        f"{_position(expected, left_offset)} | {_position(actual, right_offset)}",
        _context(left, index),
        _context(right, index),
        _operator_near(expected, left_offset),
    )


def compare_yaml(path: str, expected: str, actual: str) -> Difference | None:
    """The first differing value of two YAML documents."""
    left, right = load_yaml(expected), load_yaml(actual)
    for where, one, other in _data_differences(left, right, ""):
        return Difference(path, where, one, other, _entry_name(left, where))
    return None


def compare_python(path: str, expected: str, actual: str) -> Difference | None:
    """The first differing statement of two Python modules, compared without positions and comments."""
    left, right = ast.parse(expected), ast.parse(actual)
    if ast.dump(left) == ast.dump(right):
        return None
    one, other = [ast.unparse(node) for node in left.body], [ast.unparse(node) for node in right.body]
    index = _first_difference(one, other)
    line = left.body[index].lineno if index < len(one) else expected.count("\n") + 1
    return Difference(path, f"{line}:1", _item(one, index), _item(other, index))


def compare_lines(path: str, expected: str, actual: str) -> Difference | None:
    """The first differing line of two texts; white space at the end of a line doesn't count."""
    left, right = ([line.rstrip() for line in text.rstrip().splitlines()] for text in (expected, actual))
    if left == right:
        return None
    index = _first_difference(left, right)
    return Difference(path, f"line {index + 1}", _item(left, index), _item(right, index))


def _have_same_lines(expected: str, actual: str) -> bool:
    """Whether two texts have the same tokens, found out line by line; far quicker than all tokens of both.

    A text with something that may go on over lines, a raw string or a comment, isn't judged here.
    """
    if any(_OVER_LINES.search(text) for text in (expected, actual)):
        return False
    left, right = _lines_with_code(expected), _lines_with_code(actual)
    while True:
        one, other = next(left, None), next(right, None)
        if one == other:
            if one is None:
                return True
        elif not _are_aligned(one or "", other or "", left, right):
            return False


def _are_aligned(one: str, other: str, left: Iterator[str], right: Iterator[str]) -> bool:
    """Whether two lines, with as many that follow them as it takes, have the same tokens."""
    mine, theirs = _tokens_of_line(one), _tokens_of_line(other)
    while mine != theirs:
        count = min(len(mine), len(theirs))
        if mine[:count] != theirs[:count]:
            return False
        mine, theirs = mine[count:], theirs[count:]
        more = next(right if mine else left, None)
        if more is None:
            return False
        (theirs if mine else mine).extend(_tokens_of_line(more))
    return True


def _tokens_of_line(line: str) -> list[str]:
    return [_canonical(token) for token in _tokens(f"\n{line}")]


def _lines_with_code(text: str) -> Iterator[str]:
    """The lines that aren't empty, nor just a comment; those that end in a backslash joined to the next."""
    lines = text.replace("\r\n", "\n").replace("\\\n", "").split("\n")
    return (line for line in map(str.strip, lines) if line and not line.startswith("//"))


def _joined(text: str) -> str:
    """The text with lines that end in a backslash joined, except in raw strings; begins with a line break."""
    text = "\n" + text.replace("\r\n", "\n")
    if "\\\n" not in text:
        return text
    return _SPLICES.sub(_join, text)


def _join(match: re.Match[str]) -> str:
    return match[0] if match["raw"] is not None else match[0].replace("\\\n", "")


def _tokens(text: str) -> list[str]:
    """The tokens as they stand in the text; a preprocessor line begins with the line break before it."""
    return [groups[0] for groups in _SCANNER.findall(text) if groups[0]]


def _canonical(token: str) -> str:
    return _directive(token) if token[0] == "\n" else token


def _directive(token: str) -> str:
    """A preprocessor line as one token: `#include <a.h>`, `#define F( x ) x + 1`."""
    text = re.sub(rf"^(?:\s|{_BLOCK_COMMENT})*", "", token)
    include = _INCLUDE.match(text)
    if include:
        rest = [groups[0] for groups in _INSIDE_DIRECTIVE.findall(text, include.end())]
        return " ".join([f"#{include[1]} {include[2]}", *filter(None, rest)])
    macro = _FUNCTION_MACRO.match(text)
    start = macro.end() if macro else 0
    rest = [groups[0] for groups in _INSIDE_DIRECTIVE.findall(text, start)]
    return " ".join([*([f"# define {macro[1]}("] if macro else []), *filter(None, rest)])


def _first_difference(left: list[str], right: list[str]) -> int:
    for index, (one, other) in enumerate(zip(left, right)):
        if one != other:
            return index
    return min(len(left), len(right))


def _offset_of(text: str, index: int) -> int:
    """Where the token of that index starts; the end of the text when it has fewer."""
    for match in _SCANNER.finditer(text):
        if match["token"]:
            if index == 0:
                return match.start() + (match[0][0] == "\n")
            index -= 1
    return len(text)


def _position(text: str, offset: int) -> str:
    line_start = text.rfind("\n", 0, offset) + 1
    # A text that was prepared for scanning starts with one more line break than the file.
    return f"{text.count(chr(10), 0, offset)}:{offset - line_start + 1}"


def _context(tokens: list[str], index: int) -> str:
    before, after = tokens[max(0, index - BEFORE) : index], tokens[index + 1 : index + 1 + AFTER]
    return " ".join([*before, f">>{_item(tokens, index)}<<", *after])


def _item(items: list[str], index: int) -> str:
    return items[index] if index < len(items) else "(end of file)"


def _operator_near(text: str, offset: int) -> str:
    """The last operator, struct or function named at or before a place; its own line counts whole."""
    line_end = text.find("\n", offset)
    window = text[max(0, offset - _LOOK_BACK) : len(text) if line_end < 0 else line_end]
    found = ""
    for match in _OPERATOR.finditer(window):
        found = match["registered"] or match["struct"] or match["function"] or match[0]
    return found


def load_yaml(text: str) -> object:
    """What yaml.safe_load() gives, several times as fast on the long lists of short texts that generators write."""
    events = yaml.parse(text, Loader=yaml.CSafeLoader)
    try:
        data = [_value(event, events, {}) for event in events if not isinstance(event, _FRAME)]
    except _NotPlainError:
        return yaml.load(text, Loader=yaml.CSafeLoader)
    return data[0] if data else None


class _NotPlainError(Exception):
    """An anchor, an alias, a tag, a merge, or a key that is no string."""


_FRAME: Final = (yaml.StreamStartEvent, yaml.StreamEndEvent, yaml.DocumentStartEvent, yaml.DocumentEndEvent)


def _value(event: Any, events: Iterator[Any], plain: dict[str, object]) -> Any:
    """The value that begins with an event; `plain` remembers what unquoted words mean."""
    if isinstance(event, yaml.AliasEvent) or event.anchor or event.tag:
        raise _NotPlainError
    if isinstance(event, yaml.ScalarEvent):
        if not event.implicit[0]:
            return event.value
        if event.value not in plain:
            plain[event.value] = yaml.load(f"- {event.value}\n", Loader=yaml.CSafeLoader)[0]
        return plain[event.value]
    items = []
    end = yaml.SequenceEndEvent if isinstance(event, yaml.SequenceStartEvent) else yaml.MappingEndEvent
    while not isinstance(inner := next(events), end):
        items.append(_value(inner, events, plain))
    if end is yaml.SequenceEndEvent:
        return items
    keys = items[::2]
    if "<<" in keys or not all(isinstance(key, str) for key in keys):
        raise _NotPlainError
    return dict(zip(keys, items[1::2]))


def _data_differences(left: object, right: object, where: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in [*left, *(key for key in right if key not in left)]:
            place = f"{where}.{key}"
            if key not in left or key not in right:
                absent = "(absent)"
                yield place, repr(left[key]) if key in left else absent, repr(right[key]) if key in right else absent
            else:
                yield from _data_differences(left[key], right[key], place)
    elif isinstance(left, list) and isinstance(right, list):
        for index, (one, other) in enumerate(zip(left, right)):
            yield from _data_differences(one, other, f"{where}[{index}]")
        if len(left) != len(right):
            yield f"{where} (length)", str(len(left)), str(len(right))
    elif type(left) is not type(right) or left != right:
        yield where, repr(left), repr(right)


def _entry_name(data: object, where: str) -> str:
    """The schema or name of the list entry that a path leads into."""
    index = re.match(r"\[(\d+)\]", where)
    if index and isinstance(data, list) and isinstance(entry := data[int(index[1])], dict):
        return str(entry.get("schema_string") or entry.get("name") or "")
    return ""
