"""Generated input: schemas that are right, and files of which anything may be wrong."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st

from opgen.frontend.entry_fields import TABLE
from opgen.schema.types import BaseTy

HERE: Final = Path(__file__).resolve().parent
GOLDEN: Final = HERE.parent / "golden"


def repeatable(examples: int) -> settings:
    """The same examples on every machine and run, without a clock."""
    return settings(max_examples=examples, derandomize=True, deadline=None, database=None)


# --------------------------------------------------------------------------- schemas in torch's spelling

NAMES: Final = st.from_regex(r"[a-z_][a-zA-Z0-9_]{0,7}", fullmatch=True)
_PLAIN_TYPES: Final = st.sampled_from([*BaseTy.__members__, "t", "t1", "Any", "__torch__.torch.classes.my.Thing"])


def _wrapped(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    suffixed = st.tuples(inner, st.sampled_from(["?", "[]", "[2]", "[16]"])).map("".join)
    paired = st.tuples(inner, inner)
    return suffixed | paired.map(lambda p: f"Dict({p[0]}, {p[1]})") | paired.map(lambda p: f"({p[0]}, {p[1]})")


TYPES: Final = st.recursive(_PLAIN_TYPES, _wrapped, max_leaves=5)
DEFAULTS: Final = st.one_of(
    st.none(),
    st.integers().map(str),
    st.floats(allow_nan=False).map(repr),
    st.lists(st.integers()).map(str),
    st.sampled_from(["True", "False", "None", "Mean", "contiguous_format", "[]", '", "', "'->'", '"\\"("']),
)
ANNOTATIONS: Final = st.sampled_from(["", "", "", "(a)", "(a!)", "(a|b)", "(a -> *)", "(*)"])


@st.composite
def argument_texts(draw: st.DrawFn, names: Sequence[str]) -> list[str]:
    """Arguments with these names, an annotation right behind a type that isn't in parentheses."""
    found = []
    for name in names:
        type, annotation, default = draw(TYPES), draw(ANNOTATIONS), draw(DEFAULTS)
        annotation = "" if type.endswith(")") else annotation
        found.append(f"{type}{annotation} {name}" + (f"={default}" if default is not None else ""))
    return found


@st.composite
def schema_texts(draw: st.DrawFn) -> str:
    """A schema as torch would print it; names in a namespace, to which the rules for forms don't apply."""
    names = draw(st.lists(NAMES, unique=True, max_size=6))
    split = draw(st.integers(0, len(names)))
    arguments = draw(argument_texts(names))
    positional, keyword_only = arguments[:split], [a for a in arguments[split:] if "(a!)" not in a]
    listing = [*positional, *(["*", *keyword_only] if keyword_only else [])]
    returns = draw(st.lists(TYPES, max_size=3))
    if len(returns) == 1 and not returns[0].startswith("("):
        shown = returns[0]
    else:
        shown = f"({', '.join(returns)})"
    overload = draw(st.just("") | NAMES.map(".{}".format))
    return f"my::{draw(NAMES)}{overload}({', '.join(listing)}) -> {shown}"


# --------------------------------------------------------------------------- files

SHARED_DEFINITIONS: Final = (GOLDEN / "shared" / "ops" / "native" / "native_functions.yaml").read_text(encoding="utf-8")
SEEDS: Final = tuple(
    text
    for path in sorted((GOLDEN / "cases").glob("*/ops/native/native_functions.yaml"))
    if len(text := path.read_bytes().decode("utf-8", errors="replace")) < 2500
)
"""Definitions of golden cases: each has its own mistake to start from."""
PIECES: Final = tuple(
    sorted(
        {word for text in (SHARED_DEFINITIONS, *SEEDS) for word in text.split()} | {"\n", "\n- ", "\n  ", ": ", " #"}
    )
)
"""Words that mean something in such files."""

SCALARS: Final = st.one_of(
    st.text(max_size=12),
    st.sampled_from(PIECES),
    st.sampled_from(["True", "no", "~", "1e3", "CPU", "function", "method", "a.out", "[core]"]),
    schema_texts().map(lambda text: text.removeprefix("my::")),
)
KEYS: Final = st.sampled_from(list(TABLE.fields)) | st.text(max_size=6)
VALUES: Final = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.sampled_from(["CPU", "Meta"]), inner, max_size=3)
    ),
    max_leaves=6,
)
ENTRIES: Final = st.dictionaries(KEYS, VALUES, max_size=5)


def operators_in(definitions: str) -> tuple[str, ...]:
    """The entries of a file, those of one operator together, as texts of their own."""
    found: dict[str, str] = {}
    for entry in re.split(r"^(?=- func:)", definitions, flags=re.MULTILINE)[1:]:
        name = re.match(r"- func: (\w+)", entry)
        root = name.group(1).removesuffix("_").removesuffix("_copy") if name else ""
        found[root] = found.get(root, "") + entry
    return tuple(found.values())


@st.composite
def mutated_texts(draw: st.DrawFn, seeds: Sequence[str]) -> str:
    """One of the texts with a few words or lines removed, doubled, moved or replaced."""
    text = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        parts = draw(st.sampled_from([text.splitlines(keepends=True), _words(text)]))
        if not parts:
            return text
        at, other = draw(st.integers(0, len(parts) - 1)), draw(st.integers(0, len(parts) - 1))
        change = draw(st.sampled_from(["remove", "double", "swap", "replace", "insert"]))
        if change == "remove":
            del parts[at]
        elif change == "double":
            parts.insert(other, parts[at])
        elif change == "swap":
            parts[at], parts[other] = parts[other], parts[at]
        elif change == "replace":
            parts[at] = draw(st.sampled_from(PIECES))
        else:
            parts.insert(at, draw(st.sampled_from(PIECES) | st.characters()))
        text = "".join(parts)
    return text


def _words(text: str) -> list[str]:
    words: list[str] = []
    last = ""
    for character in text:
        if character.isalnum() and last.isalnum() and words:
            words[-1] += character
        else:
            words.append(character)
        last = character
    return words
