"""Texts that are nearly right: a text and a number in, the same text with a few accidents out, always the same ones."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

Accident = Callable[[str, random.Random, Sequence[str]], str]

_WORD = re.compile(r"\w+|[^\w\s]")
_NUISANCES = (
    "",
    " ",
    "\n",
    "\t",
    "\r",
    "\0",
    "\x85",
    "\u2028",
    "\ufeff",
    "é",
    "😀",
    "'",
    '"',
    "\\",
    "#",
    ":",
    ": ",
    "- ",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "((",
    "))",
    ",",
    ", ",
    "*",
    "*, ",
    "...",
    "->",
    " -> ",
    "::",
    ".",
    "?",
    "!",
    "(a!)",
    "(a -> *)",
    "[]",
    "[3]",
    "[99999999999]",
    "=",
    "=None",
    "=[1, 2]",
    "&a ",
    "*a",
    "!!str ",
    "<<: ",
    "|\n",
    ">-\n",
    "---\n",
    "...\n",
    "%",
    "@",
    "$",
    "${",
    "${,x}",
    "$$",
    "$if",
    "$if x",
    "$endif",
    "$else",
    "$for",
    "$for a in b",
    "$endfor",
    "_",
    "__",
    "0",
    "-1",
    "1e999",
    "Tensor",
    "Tensor(a!)",
    "Tensor?[]",
    "int",
    "SymInt[2]",
    "self",
    "out",
    "dispatch:",
    "CPU",
    "structured: True",
    "structured_delegate: a.out",
    "autogen: a.out",
    "variants: method",
    "tags: core",
    "- func: a(Tensor self) -> Tensor\n",
)


def mutated(text: str, seed: int, others: Sequence[str]) -> str:
    """`text` after one to four accidents; `others` are texts that pieces may come from."""
    chance = random.Random(seed)
    for _ in range(chance.randint(1, 4)):
        text = chance.choice(_ACCIDENTS)(text, chance, others)
    return text


def _place(text: str, chance: random.Random) -> tuple[int, int]:
    start = chance.randint(0, len(text))
    return start, min(len(text), start + int(chance.expovariate(0.15)))


def _drop(text: str, chance: random.Random, others: Sequence[str]) -> str:
    start, end = _place(text, chance)
    return text[:start] + text[end:]


def _insert(text: str, chance: random.Random, others: Sequence[str]) -> str:
    start, _ = _place(text, chance)
    return text[:start] + chance.choice(_NUISANCES) * chance.choice((1, 1, 1, 2, 40)) + text[start:]


def _replace(text: str, chance: random.Random, others: Sequence[str]) -> str:
    start, end = _place(text, chance)
    return text[:start] + chance.choice(_NUISANCES) + text[end:]


def _splice(text: str, chance: random.Random, others: Sequence[str]) -> str:
    other = chance.choice(others)
    start, _ = _place(text, chance)
    begin = chance.randint(0, len(other))
    return text[:start] + other[begin : begin + chance.randint(1, 200)] + text[start:]


def _swap_words(text: str, chance: random.Random, others: Sequence[str]) -> str:
    words = list(_WORD.finditer(text))
    if len(words) < 2:
        return text
    one, two = sorted(chance.sample(words, 2), key=lambda found: found.start())
    return text[: one.start()] + two[0] + text[one.end() : two.start()] + one[0] + text[two.end() :]


def _repeat_line(text: str, chance: random.Random, others: Sequence[str]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = chance.randrange(len(lines))
    return "".join(lines[: at + 1] + [lines[at]] * chance.choice((1, 1, 30)) + lines[at + 1 :])


def _move_line(text: str, chance: random.Random, others: Sequence[str]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    line = lines.pop(chance.randrange(len(lines)))
    lines.insert(chance.randint(0, len(lines)), line)
    return "".join(lines)


def _indent(text: str, chance: random.Random, others: Sequence[str]) -> str:
    lines = text.splitlines(keepends=True) or [""]
    at = chance.randrange(len(lines))
    lines[at] = " " * chance.randint(1, 4) + lines[at] if chance.random() < 0.5 else lines[at].lstrip(" ")
    return "".join(lines)


def _nest(text: str, chance: random.Random, others: Sequence[str]) -> str:
    """Put a piece into brackets, blocks or comments within each other; now and then into very many."""
    opened, closed = chance.choice(_NESTS)
    count = chance.choice((3, 50, 50, 400, 400, 20_000))
    start, end = _place(text, chance)
    if chance.random() < 0.2:
        closed = ""
    return text[:start] + opened * count + text[start:end] + closed * count + text[end:]


_NESTS = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("<", ">"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("/*", "*/"), ("//", "")),
    *(("$if a\n", "$endif\n"), ("$for a in b\n", "$endfor\n"), ("${", "}"), ("a ? b : ", ""), ("-", ""), ("!", "")),
    *(("f(", ")"), ("[&] { return ", "; }()"), ("a<", ">"), ("Tensor?", ""), ("(a!)", ""), ("[]", ""), ("?", "")),
    *(('"', '"'), ("'", "'"), ('R"(', ')"'), ("\\", ""), ("#if 1\n", "#endif\n"), ("#define a a\n", ""), ("a::", "")),
    *(
        ("&a [*a, ", "]"),
        ("!!map ", ""),
        ("\x27" * 3, ""),
        ("not ", ""),
        ("lambda: ", ""),
        ("x.", ""),
        ("Optional[", "]"),
    ),
    *(("if a:\n", ""), (" ", ""), ("\n", ""), ("Dict(str, ", ")"), ("(int, ", ")"), ("template <", ">"), ("~", "")),
)
"""What opens a nest of some language, and closes it."""

_ACCIDENTS: tuple[Accident, ...] = (
    _nest,
    _drop,
    _insert,
    _replace,
    _splice,
    _swap_words,
    _repeat_line,
    _move_line,
    _indent,
)
