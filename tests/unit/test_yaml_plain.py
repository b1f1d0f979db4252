"""What is read without libyaml is what libyaml reads, to the character; and what is read so is nearly everything."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend.nodes import Node, read_source
from opgen.frontend.yaml_events import compose, compose_part
from opgen.frontend.yaml_plain import read_plain

PACKAGED = Path(__file__).parents[2] / "opgen" / "packaged"
FILES = (
    "ATen/native/native_functions.yaml",
    "ATen/native/tags.yaml",
    "autograd/derivatives.yaml",
    "autograd/deprecated.yaml",
)


def by_libyaml(source: Source) -> Node | None:
    """What libyaml reads, if there is nothing to be said about it."""
    log = Diagnostics()
    try:
        node = compose(source, log)
    except UserError:
        return None
    return None if log.found else node


def read(text: str | Source) -> tuple[Node | None, list[str]]:
    """What is read plainly, held against libyaml, and the stretches that were left to it."""
    source = text if isinstance(text, Source) else Source("ops.yaml", text)
    left: list[str] = []

    def compose_left(start: int, end: int) -> Node | None:
        left.append(source.text[start:end])
        return compose_part(source, start, end)

    node = read_plain(source, compose_left)
    if node is not None:
        assert repr(node) == repr(by_libyaml(source))
        assert node == by_libyaml(source)
    return node, left


@pytest.mark.parametrize(
    "text",
    [
        "- a: b\n",
        "# head\n\n- a: b\n  # between\n\n  c: d # e\n# f\n- a: b\n",
        "- a: x::y, (b) [c] {d} ! ? % @ ` & * | > -\n",
        "- a: b#c\n  d: -e\n  f: b  # c: d\n  g:   h  \n",
        "- a: 'b # c: d'\n  b: \"it's\" # c\n  c: ''\n",
        "- a: []\n  b: [ c,d , 'e f', \"g\" ]  # h\n  c: [x.y]\n",
        "- a:\n  b: # c\n  d: \n",
        "- a:\n    b:\n        c: d\n        e:\n    f, g: h\n  i: j\n- a:\n   b: c\n",
        "- a:\n\n# b\n    # c\n    d: e\n     \n  f: g\n",
        "- a: \\\n",
        "- a.b: c\n  d e: f\n  0: 1\n  a,b: c\n",
        "- true: false\n  null: 1\n  y: n\n",
        "- a: {}\n  b: {}  # c\n",
        "- a:\n  - b\n  - c -> int d, e  \n  f: g\n",
        "- a: \n    - b\n\n  # c\n  d:\n    e:\n    - f\n",
        "- a: |\n   b\n     c: d  \n   # e\n  # f\n  g: |\n      h\n",
        "- a: |\n   b\n\n\n",
        '- a: "b: c  \n     # d\n   - e"\n  f: " g\n   "  # h\n  i: "\n j"\n  k: "\n   "\n',
    ],
)
def test_is_plain(text: str) -> None:
    node, left = read(text)
    assert node is not None
    assert left == []


@pytest.mark.parametrize(
    "entry",
    [
        "- a: b\n   c\n",
        "- a: 'b\n   c'\n",
        "- a: 'it''s'\n  b: \"\\\"\"\n",
        "- a: |\n   b\n\n   c\n",
        "- a: |\n   b\n    \n  \n",
        "- a: |  # b\n   c\n",
        "- a: |\n\n   b\n",
        '- a: "b\n\n   c"\n',
        '- a: "b\n   \\n"\n',
        "- a: >-\n   b\n  # c\n\n  d: e\n",
        "- a: |+\n   b\n\n# c\n",
        "- a: {b: c}\n",
        "- a: [b, [c]]\n  d: [e,]\n",
        "- a:\n  - b\n  - c: d\n",
        "- a:\n  - b # c\n",
        "- a:\n  - b\n\n  - c\n",
        "- a:\n  - b\n    c\n",
        "-   a: b\n    c: d\n",
        "- - a\n",
        "-\n  a: b\n",
        "- word\n",
        "- 'a': b\n",
        "- ? a\n  : b\n",
        "- a : b\n",
        "- [a]\n",
        "-\n",
    ],
)
def test_is_left_to_libyaml(entry: str) -> None:
    for text in (entry, f"- a: b\n{entry}- c: d\n", f"- a: b\n\n# c\n{entry}\n# d\n- c: d\n"):
        node, left = read(text)
        assert node is not None
        assert len(left) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "a: b\n",
        "word\n",
        "- a: b",
        "---\n- a: b\n",
        "- a: b\n---\n- a: b\n",
        "- a: b\n...\n- a: b\n",
        "- a: b\nc: d\n",
        "- a: b\n-c: d\n",
        "- a: b\n c: d\n",
        "- a: b: c\n",
        "- a: b:\n",
        "- a: b\n  a: c\n",
        "- a: &b c\n- a: *b\n",
        "- a: &b c\n",
        "- a: !b c\n",
        "- a: *b\n",
        "- <<: {a: b}\n",
        "- a: 'b\n- c: d'\n- e: f\n",
        "- a: [b,\n- c]\n",
        "- a: [b,\nc]\n",
        "- a: 'b\nc'\n",
        '- a: "b\n# c\n- d"\n',
        "- a: 'b'c\n",
        "- a: b\tc\n",
        "- a: b\r\n",
        "- a: \xe9\n",
        "\ufeff- a: b\n",
        "- a: b\x00\n",
        "- a: b\x7f\n",
        "- a: `\n",
        "- a: @\n",
        "- a: %\n",
        "- a: - b\n",
        "- a: b\n    c: d\n",
        "- a:\n - b\n",
        "- a:\n  - b\n   - c: d\n",
        "- a: {}b\n",
        "- a: |\n  b\n",
        "- a: |\n    b\n   c: d\n",
        '- a: "b\n   c"d\n',
        '- a: "b\n   c": d\n',
        "- a:\n    b: c\n   d: e\n",
        "- a:\n    b: c\n      d: e\n",
        f"- {'a' * 1025}: b\n",
        "%YAML 1.1\n- a: b\n",
    ],
)
def test_libyaml_must_read_all_of_it(text: str) -> None:
    assert read(text)[0] is None


@pytest.mark.parametrize("name", FILES)
def test_packaged_definitions(name: str) -> None:
    node, left = read(read_source(PACKAGED / name))
    assert node is not None
    assert left == []


def test_torchs_definitions(torch_source: Path) -> None:
    for path in (torch_source / "native" / "native_functions.yaml", torch_source.parent / "autograd/derivatives.yaml"):
        node, left = read(read_source(path))
        assert node is not None
        assert left == []


# ------------------------------------------------------------------------------- any text

WORDS = st.sampled_from(["a", "b", "func", "x.y", "CPU", "0", "-1", "a b", "a, b", "a::b", "~", "<<", "(a! -> *)"])
ENDS = st.sampled_from(["", "", "", " ", "  # c", " #", "#c", ":", ": d", " : d", "::", ",", "\n   e", "\n     e"])
ODD = st.sampled_from(
    [
        *("''", "'a b'", '"a"', "'it''s'", '"\\n"', "'a\n   b'", "'a\n- b: c'", '"', "'"),
        *("[a, b]", "[ 'a' ,b]", "[]", "[a,]", "[a b]", "[a, [b]]", "[a,\n  b]", "[a: b]", "[a", "]", "{a: b}", "{}"),
        *("|\n    a\n   \n     b", ">-\n   a\n\n", "|+\n    a\n\n", "|2\n  a", "|", "&a b", "*a", "!t a", "- a", "? a"),
        *("|\n    a\n      b\n    c", "|\n    a\n\n", "|\n  a", "|\n   # a\n  # b", "|\n     a\n   b", "|\n   a\n  "),
        *('"a\n   b"', '"a \n b\n  "', '"a\n\n b"', '"\n   a: b"', '"a\n  # b\n  - c"', '"a\nb"', '" a\n     "', "{}"),
        *("\n  - a", "\n    - a\n    - b", "\n  - a\n  - b: c", "\n  - a\n   - b", "\n - a", "\n  - a, b -> c\n  - d"),
        *("@", "`", "%a", "?a", ":a", "-", "--- a", "#a", ",a", "", "\n    a: b\n    c:", "\n  - a\n  - b"),
    ]
)
VALUES = st.builds("{}{}".format, WORDS | WORDS | ODD, ENDS)
LEADS = st.sampled_from(["  "] * 9 + ["- "] * 6 + ["    ", "    ", "   ", "", " ", "-   ", "  - ", "-", "- - ", "? "])
COLONS = st.sampled_from([": "] * 12 + [":", ":", ":  ", " : ", "", "::", ":\n    x: "])
LINES = st.builds("{}{}{}{}".format, LEADS, WORDS, COLONS, VALUES)
ASIDES = st.sampled_from(["", "", "# a", "  # a: b", "   ", "      # a", "---", "...", "%TAG", "word", "  word", "é"])
TEXTS = st.lists(LINES | LINES | LINES | ASIDES, max_size=10).map(lambda lines: "- a: b\n" + "\n".join(lines) + "\n")

PIECES = st.sampled_from([*" \n:#-'\"[]{},|>&*!?%@`\\.~=<$^_x0", "\n- ", "\n  ", ": ", " #", "- ", "\n\n", "---\n"])


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_any_lines(text: str) -> None:
    read(text)


@st.composite
def mutated(draw: st.DrawFn, texts: tuple[str, ...]) -> str:
    """A stretch of real definitions with a few characters more or less."""
    text = draw(st.sampled_from(texts))
    entries = text.split("\n- ")
    first = draw(st.integers(1, len(entries) - 1))
    text = "".join(f"- {entry}\n" for entry in entries[first : first + draw(st.integers(1, 4))])
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES | st.just("")) + text[at + draw(st.integers(0, 2)) :]
    return text


@settings(max_examples=400, deadline=None)
@given(mutated(tuple((PACKAGED / name).read_text() for name in FILES)))
def test_definitions_with_mistakes(text: str) -> None:
    read(text)
