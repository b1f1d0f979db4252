"""Any text at all becomes nodes whose places are right, or diagnostics."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from expecttest import assert_expected_inline
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend import yaml_events
from opgen.frontend.nodes import ListNode, MappingNode, Node, Scalar, load_yaml, read_source


def load(text: str) -> tuple[Node | None, Diagnostics]:
    log = Diagnostics()
    return load_yaml(Source("ops.yaml", text), log), log


def good(text: str) -> Node:
    node, log = load(text)
    assert not log.all, log.render()
    assert node is not None
    return node


def ascii_only(text: str) -> str:
    """`text` as `expecttest` can write it."""
    return text.encode("ascii", errors="replace").decode()


def value(text: str) -> Scalar:
    """The scalar under the key `k`."""
    node = good(text)
    assert isinstance(node, MappingNode)
    found = node.get("k")
    assert isinstance(found, Scalar)
    return found


def plain(node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, ListNode):
        return [plain(item) for item in node.items]
    return {key.text: plain(child) for key, child in node.entries}


def scalars(node: Node) -> Iterator[Scalar]:
    if isinstance(node, Scalar):
        yield node
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from scalars(item)
    else:
        for key, child in node.entries:
            yield key
            yield from scalars(child)


def written(scalar: Scalar, start: int, end: int) -> str:
    span = scalar.span_at(start, end)
    return scalar.source.text[span.start : span.end]


class TestNodes:
    @pytest.mark.parametrize(
        "word", ["on", "yes", "no", "010", "1.10", "1e3", "~", "null", "0x1F", "2001-01-01", "=", "1:30", ".inf", "-"]
    )
    def test_nothing_is_typed(self, word: str) -> None:
        if word != "-":
            assert plain(good(f"{word}: x")) == {word: "x"}
            assert value(f"k: {word}").text == word
        assert value(f"k: '{word}'").text == word

    def test_empty_values_are_told_from_empty_texts(self) -> None:
        assert value("k:").is_empty
        assert value("k: # nothing").is_empty
        assert not value("k: ''").is_empty
        assert not value("k: ~").is_empty

    @pytest.mark.parametrize("text", ["", "\n\n", "# only a comment\n", "---\n"])
    def test_a_file_with_nothing_in_it_is_an_empty_scalar(self, text: str) -> None:
        node = good(text)
        assert isinstance(node, Scalar)
        assert node.is_empty

    def test_flow_style_makes_keys_without_values(self) -> None:
        assert plain(good("dispatch: {CPU, CUDA: k}")) == {"dispatch": {"CPU": "", "CUDA": "k"}}

    @pytest.mark.parametrize(
        "lead", ["", "\ufeff", "\U0001f600: \U0001f600\n", "# \u4e2d\u6587\r\n", "'\U0001d538': é\r\n\n"]
    )
    def test_offsets_are_those_of_the_source(self, lead: str) -> None:
        text = f"{lead}k: {{CPU: [a, 'b c']}}\r\nlast: word"
        node = good(text)
        assert isinstance(node, MappingNode)
        for word in ("k", "CPU", "a", "'b c'", "last", "word"):
            found = [s for s in scalars(node) if s.text == word.strip("'")]
            assert [text[s.start : s.end] for s in found] == [word]

    def test_spans_of_collections(self) -> None:
        text = "- a: 1\n  b: [x, y]\n\n# comment\n- {}\n\n"
        node = good(text)
        assert isinstance(node, ListNode)
        assert [text[n.start : n.end] for n in (node, *node.items)] == [
            "- a: 1\n  b: [x, y]\n\n# comment\n- {}",
            "a: 1\n  b: [x, y]",
            "{}",
        ]

    def test_nodes_are_hashable_and_share_aliases(self) -> None:
        node = good("a: &here {x: 1}\nb: *here\n")
        assert isinstance(node, MappingNode)
        assert hash(node) == hash(node)
        assert node.get("a") is node.get("b")
        assert node.get("c") is None
        assert node.key("b") is not None

    def test_anchors_are_not_part_of_a_scalar(self) -> None:
        scalar = value("k: &name  text\n")
        assert (scalar.text, scalar.span.column) == ("text", 11)

    def test_both_loaders_read_torchs_file_alike(self, torch_source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        text = "\n".join((torch_source / "native" / "native_functions.yaml").read_text("utf-8").split("\n")[:800])
        source, log = Source("native_functions.yaml", text), Diagnostics()
        fast = load_yaml(source, log)
        monkeypatch.setattr(yaml_events, "LOADER", yaml.SafeLoader)
        assert load_yaml(source, log) == fast
        assert not log.all

    def test_every_scalar_of_torchs_file_is_where_it_says(self, torch_source: Path) -> None:
        log = Diagnostics()
        source = read_source(torch_source / "native" / "native_functions.yaml")
        node = load_yaml(source, log)
        assert isinstance(node, ListNode)
        assert not log.all
        assert len(node.items) == 2584
        for scalar in scalars(node):
            if "\n" not in source.text[scalar.start : scalar.end]:
                assert written(scalar, 0, len(scalar.text)) == scalar.text


class TestPlacesInText:
    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("k: foo(Tensor self) -> Tensor", "self"),
            ("k: 'foo(str s='','') -> Tensor'", "Tensor"),
            (r'k: "a\tb\x41\u00e9\U0001f600 \"word\" c"', "word"),
            ("k: one\n  two\n\n  three\n", "three"),
            ("k: 'one\n  two\n\n  three'\n", "two"),
            ('k: "one\\\n  two\n\n  three"\n', "three"),
            ("k: |\n  one\n    two\n\n  three\n", "two"),
            ("k: |+\n\n  one\n\n\n  three\n", "three"),
            ("k: >-\n  one\n  two\n\n    more\n\n  three\n", "three"),
            ("k: >2\n    one\n  two\n", "two"),
            ("k: |\n  one two\n  one two\n", "two"),
        ],
    )
    def test_words_are_found_where_they_were_written(self, text: str, word: str) -> None:
        scalar = value(text)
        at = scalar.text.index(word)
        assert written(scalar, at, at + len(word)) == word
        assert scalar.span_at(at, at).start == text.index(word)

    def test_an_escape_is_one_place(self) -> None:
        scalar = value(r'k: "a\x41b"')
        assert written(scalar, 1, 2) == r"\x41"
        assert written(scalar, 1, 3) == r"\x41b"
        assert written(value("k: 'it''s'"), 2, 3) == "''"

    def test_the_end_and_beyond_are_clamped(self) -> None:
        scalar = value("k: 'ab'")
        assert (scalar.span_at(2, 2).start, scalar.span_at(9, 12).start) == (6, 6)
        empty = value("k: ''").span_at(0, 1)
        assert (empty.start, empty.end) == (4, 4)

    def test_a_comment_that_ate_part_of_a_value(self) -> None:
        eaten = value("k: foo(str s=' #1') -> Tensor\n").trailing_comment()
        assert eaten is not None
        assert eaten.source.text[eaten.start : eaten.end] == "#1') -> Tensor"
        assert value("k: #x\n").trailing_comment() is not None
        assert value("k: 'a' # b\n").trailing_comment() is None
        assert value("k: a#b\n").trailing_comment() is None
        assert value("k: a\n# b\n").trailing_comment() is None


class TestMistakes:
    def check(self, text: str, expect: str) -> None:
        _, log = load(text)
        assert_expected_inline(ascii_only(log.render()), expect, skip=1)

    def test_every_unreadable_entry_is_reported(self) -> None:
        text = "- func: a: b\n- ok: x\n- s: 'foo\n- c: @x\n- d: {x: y\n- e: [x}\n"
        self.check(
            text,
            """\
ops.yaml:1:9: error: this value contains ': ', which starts a mapping in YAML [yaml-quote]
    1 | - func: a: b
      |         ^^^^ quote this value
ops.yaml:3:6: error: this quote is never closed [yaml-syntax]
    3 | - s: 'foo
      |      ^ close it, or quote the whole value
ops.yaml:4:6: error: a plain value can't start with '@' [yaml-quote]
    4 | - c: @x
      |      ^^ quote this value
ops.yaml:5:6: error: this '{' is not closed on its line [yaml-syntax]
    5 | - d: {x: y
      |      ^ quote the whole value if it is text
ops.yaml:6:8: error: expected ',' or ']' [yaml-syntax]
    6 | - e: [x}
      |        ^ quote the whole value if it is text
ops.yaml:6:6: note: '[' was opened here
    6 | - e: [x}
      |      ^
5 errors
""",
        )

    def test_formula_that_needs_quotes(self) -> None:
        self.check(
            "- name: f\n  self: a ? b : c\n",
            """\
ops.yaml:2:9: error: this value contains ': ', which starts a mapping in YAML [yaml-quote]
    2 |   self: a ? b : c
      |         ^^^^^^^^^ quote this value
1 error
""",
        )

    def test_other_values_that_need_quotes(self) -> None:
        self.check(
            '- a: !x.defined()\n- b: *grad\n- c: - d\n- e: >foo\n- f: "x" + y\n- g: "\\q"\n',
            """\
ops.yaml:1:6: error: YAML tags are not supported [yaml-tag]
    1 | - a: !x.defined()
      |      ^^^^^^^^^^^^ quote this value if it is text
ops.yaml:2:6: error: there is no anchor '&grad' for this alias [yaml-alias]
    2 | - b: *grad
      |      ^^^^^ quote this value if it is text
ops.yaml:3:6: error: a list can't start on the line of its key [yaml-quote]
    3 | - c: - d
      |      ^^^ write the list on lines of its own, or quote this value if it is text
ops.yaml:4:6: error: '|' and '>' start a block of text; nothing may follow them on their line [yaml-quote]
    4 | - e: >foo
      |      ^^^^ put the text on the lines below, or quote this value
ops.yaml:5:10: error: expected 'key: value' here [yaml-syntax]
    5 | - f: "x" + y
      |          ^^^ quote the whole value if this belongs to it, or fix the indentation
ops.yaml:6:7: error: this is not an escape in double quotes [yaml-syntax]
    6 | - g: "\\q"
      |       ^^ write '\\\\' for a backslash, or use single quotes
6 errors
""",
        )

    def test_indentation(self) -> None:
        self.check(
            "- a: b\n   c: d\n- e: f\n\tg: h\n- i: j\n k: l\n- m: n\n  o\n  p: q\n- r: s\n  t\n",
            """\
ops.yaml:2:4: error: this line reads as part of the value above it, so it can't contain ': ' [yaml-indent]
    2 |    c: d
      |    ^^^^ indent it like its sibling keys, or quote the whole value
ops.yaml:4:1: error: tabs can't indent in YAML [yaml-tab]
    4 |     g: h
      | ^^^^ use spaces
ops.yaml:6:2: error: expected the next entry of a list here [yaml-syntax]
    6 |  k: l
      |  ^^^^ start it with '- ', or indent it like the keys of the entry above
ops.yaml:8:3: error: this line is neither 'key: value' nor part of the value above it [yaml-syntax]
    8 |   o
      |   ^ put ': ' after the key, or indent the line deeper than the key it belongs to
ops.yaml:11:3: error: this line is neither 'key: value' nor part of the value above it [yaml-syntax]
   11 |   t
      |   ^ put ': ' after the key, or indent the line deeper than the key it belongs to
5 errors
""",
        )

    def test_list_that_becomes_a_mapping(self) -> None:
        self.check(
            "- a\nb: c\n",
            """\
ops.yaml:2:1: error: expected the next entry of a list here [yaml-syntax]
    2 | b: c
      | ^^^^ start it with '- ', or indent it like the keys of the entry above
1 error
""",
        )

    def test_duplicate_keys_show_both_places(self) -> None:
        self.check(
            "- dispatch:\n    CPU: a\n    CUDA: b\n    CPU: c\n",
            """\
ops.yaml:4:5: error: the key 'CPU' is given twice [duplicate-key]
    4 |     CPU: c
      |     ^^^
ops.yaml:2:5: note: first given here
    2 |     CPU: a
      |     ^^^
1 error
""",
        )

    def test_what_operator_definitions_have_no_use_for(self) -> None:
        self.check(
            "<<: x\na: !!python/object:os.system y\n[k]: v\n{k}: w\n",
            """\
ops.yaml:1:1: error: merge keys are not supported [yaml-merge]
    1 | <<: x
      | ^^ write the merged keys out
ops.yaml:2:4: error: YAML tags are not supported [yaml-tag]
    2 | a: !!python/object:os.system y
      |    ^^^^^^^^^^^^^^^^^^^^^^^^^ quote this value if it is text
ops.yaml:3:1: error: a key must be a word, not a list or a mapping [yaml-key]
    3 | [k]: v
      | ^^^ quote it if it is text
ops.yaml:4:1: error: a key must be a word, not a list or a mapping [yaml-key]
    4 | {k}: w
      | ^^^ quote it if it is text
4 errors
""",
        )

    def test_second_document(self) -> None:
        self.check(
            "a: b\n---\nc: d\n",
            """\
ops.yaml:2:1: error: a second YAML document starts here [yaml-documents]
    2 | ---
      | ^^^ remove it, or move what follows to another file
1 error
""",
        )

    def test_alias_to_nothing_and_to_itself(self) -> None:
        self.check(
            "a: &here [*here]\nb: *hree\n",
            """\
ops.yaml:1:11: error: the alias '*here' is inside the value of its own anchor [yaml-alias]
    1 | a: &here [*here]
      |           ^^^^^
ops.yaml:2:4: error: there is no anchor '&hree' for this alias [yaml-alias]
    2 | b: *hree
      |    ^^^^^ did you mean 'here'?
2 errors
""",
        )

    def test_characters_that_can_not_be_in_a_file(self) -> None:
        self.check(
            "a: b\0c\nd: \x07\n",
            """\
ops.yaml:1:5: error: the character U+0000 is not allowed in YAML [bad-character]
    1 | a: b?c
      |     ^ remove it, or write it as an escape in double quotes
ops.yaml:2:4: error: the character U+0007 is not allowed in YAML [bad-character]
    2 | d: ?
      |    ^ remove it, or write it as an escape in double quotes
2 errors
""",
        )

    def test_nesting(self) -> None:
        self.check(
            "[" * 70,
            """\
ops.yaml:1:65: error: this is nested more than 64 deep [yaml-nesting]
    1 | [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
      |                                                                 ^
1 error
""",
        )

    def test_other_problems(self) -> None:
        self.check(
            "%YAML 3.0\n---\na: b\n",
            """\
ops.yaml:1:1: error: this is not YAML: found incompatible YAML document [yaml-syntax]
    1 | %YAML 3.0
      | ^^^^^^^^^
1 error
""",
        )


class TestLimits:
    @pytest.mark.parametrize(
        "text", ["[" * 100_000, "- " * 100_000, "{a: " * 5_000, "? " * 5_000, "[[" * 70 + "]]" * 70]
    )
    def test_deep_nesting_is_a_diagnostic(self, text: str) -> None:
        node, log = load(text)
        assert node is None
        assert log.all[0].id == "yaml-nesting"

    def test_deep_nesting_without_libyaml(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(yaml_events, "LOADER", yaml.SafeLoader)
        self.test_deep_nesting_is_a_diagnostic("[" * 5_000)

    def test_aliases_of_aliases_are_bounded(self) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
        node, log = load("\n".join(lines))
        assert node is None
        assert [d.id for d in log.all] == ["yaml-alias"]


class TestReading:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "ops.yaml"

    def mistake(self, path: Path) -> str:
        with pytest.raises(UserError) as caught:
            read_source(path, "ops.yaml")
        return ascii_only(caught.value.diagnostics[0].render())

    def test_newlines_and_byte_order_mark_are_taken_off(self, path: Path) -> None:
        path.write_bytes(b"\xef\xbb\xbfa: b\r\nc: d\re: f\n")
        assert read_source(path).text == "a: b\nc: d\ne: f\n"

    def test_missing_file(self, path: Path) -> None:
        assert_expected_inline(
            self.mistake(path),
            """\
opgen: error: there is no file 'ops.yaml' [missing-file]
""",
        )

    def test_folder(self, path: Path) -> None:
        path.mkdir()
        assert_expected_inline(
            self.mistake(path),
            """\
opgen: error: can't read 'ops.yaml': it is a folder [unreadable-file]
""",
        )

    def test_bytes_that_are_not_utf8(self, path: Path) -> None:
        path.write_bytes(b"a: b\r\nc: \xc3\xa9\xff\n")
        assert_expected_inline(
            self.mistake(path),
            """\
ops.yaml:2:5: error: the byte 0xff is not UTF-8 [bad-encoding]
    2 | c: ??
      |     ^ save the file as UTF-8
""",
        )

    def test_load_yaml_logs_what_it_can_not_read(self, path: Path) -> None:
        log = Diagnostics()
        assert load_yaml(path, log) is None
        assert [d.id for d in log.all] == ["missing-file"]


PIECES = st.sampled_from(
    (
        *(
            "a",
            "b: ",
            "- ",
            "\n",
            "  ",
            "\n  ",
            "'",
            '"',
            "|\n",
            ">-\n",
            "#",
            " #",
            ":",
            "? ",
            "[",
            "]",
            "{",
            "}",
            ",",
            "&x ",
        ),
        *("*x", "!t ", "\t", "\\n", "\\x41", "\\", "---", "...", "%YAML 1.1", "\ufeff", "\u2028", "\x85", "\U0001f600"),
        *(
            "é",
            "\r\n",
            "\r",
            "\x00",
            "<<: ",
            "~",
            "a: ",
            "\n- ",
            "@",
            "''",
            '""',
            "|2\n",
            ">+\n",
            "\\\n",
            "\ud800",
            "\n\n",
        ),
    )
)
TEXTS = st.lists(PIECES, max_size=25).map("".join) | st.text(max_size=40)


DATA = st.dictionaries(st.text(), st.text() | st.lists(st.text() | st.dictionaries(st.text(), st.text())))


class TestAnyText:
    @settings(max_examples=400, deadline=None)
    @given(TEXTS)
    def test_becomes_nodes_or_diagnostics(self, text: str) -> None:
        node, log = load(text)
        log.render()
        assert node is not None or log.has_errors
        for scalar in scalars(node) if node is not None else ():
            scalar.trailing_comment()
            self.check_places(scalar)

    @settings(max_examples=200, deadline=None)
    @given(TEXTS)
    def test_becomes_the_same_without_libyaml(self, text: str) -> None:
        before = yaml_events.LOADER
        yaml_events.LOADER = yaml.SafeLoader  # type: ignore[misc]
        try:
            self.test_becomes_nodes_or_diagnostics.hypothesis.inner_test(self, text)  # type: ignore[attr-defined]
        finally:
            yaml_events.LOADER = before  # type: ignore[misc]

    @settings(max_examples=200, deadline=None)
    @given(st.binary(max_size=60))
    def test_any_bytes(self, data: bytes) -> None:
        with tempfile.NamedTemporaryFile(suffix=".yaml") as file:
            file.write(data)
            file.flush()
            log = Diagnostics()
            assert load_yaml(Path(file.name), log) is not None or log.has_errors
            log.render()

    @settings(max_examples=100, deadline=None)
    @given(DATA)
    def test_what_pyyaml_writes_is_read_back(self, data: object) -> None:
        text = yaml.safe_dump(data, allow_unicode=True, default_style='"')
        node, log = load(text)
        assert node is not None, log.render()
        assert plain(node) == data

    def check_places(self, scalar: Scalar) -> None:
        for at, character in enumerate(scalar.text):
            span = scalar.span_at(at, at + 1)
            assert scalar.start <= span.start <= span.end <= scalar.end
            part = scalar.source.text[span.start : span.end]
            assert part in (character, "''") or re.match(r"\\", part) or character.isspace()
