"""A table of fields reads a mapping, and every mistake in it is shown where it was made."""

from __future__ import annotations

from pathlib import Path

import pytest
from expecttest import assert_expected_inline
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.diagnostics import Diagnostics, Source, UserError
from opgen.frontend.cpp_names import KEYWORDS, identifier, qualified_name
from opgen.frontend.fields import (
    Convert,
    Field,
    OneOf,
    Table,
    Values,
    boolean,
    list_of,
    mapping_of,
    read_fields,
    text,
    word_list,
)
from opgen.frontend.nodes import MappingNode, Node, Scalar, load_yaml
from opgen.frontend.tags import load_tags

FUNC = Field("func", text)
VARIANTS: Field[tuple[Scalar, ...]] = Field("variants", word_list, default=())
GUARD = Field("device_guard", boolean, default=True)
CHECK = Field("device_check", OneOf("device check", {"NoCheck": 0, "ExactSame": 1}), default=1)
INHERITS: Field[Scalar | None] = Field("structured_inherits", qualified_name, default=None)
DISPATCH: Field[tuple[tuple[str, Scalar], ...]] = Field("dispatch", mapping_of(text, qualified_name), default=())
TABLE = Table.of(FUNC, VARIANTS, GUARD, CHECK, INHERITS, DISPATCH)


def read(written: str) -> tuple[Values | None, Diagnostics]:
    log = Diagnostics()
    node = load_yaml(Source("ops.yaml", written), log)
    assert node is not None
    return read_fields(node, TABLE, "entry 'abs'", log), log


def node_of(written: str) -> Node:
    log = Diagnostics()
    node = load_yaml(Source("ops.yaml", f"k: {written}\n"), log)
    assert isinstance(node, MappingNode), log.render()
    found = node.get("k")
    assert found is not None
    return found


def mistakes(convert: Convert[object], written: str) -> str:
    with pytest.raises(UserError) as caught:
        convert(node_of(written))
    return "".join(d.render() for d in caught.value.diagnostics).replace("é", "?")


def test_values_and_defaults() -> None:
    values, log = read("func: abs\nvariants: function, method\ndispatch:\n  CPU, CUDA: at::native::k\n")
    assert values is not None
    assert not log.all
    assert values[FUNC] == "abs"
    assert [word.text for word in values[VARIANTS]] == ["function", "method"]
    assert values[GUARD] is True
    assert values[CHECK] == 1
    assert [(key, kernel.text) for key, kernel in values[DISPATCH]] == [("CPU, CUDA", "at::native::k")]
    assert VARIANTS in values
    assert GUARD not in values
    assert (values.span(VARIANTS).line, values.span(GUARD).line) == (2, 1)


def test_every_mistake_of_a_mapping_is_reported() -> None:
    values, log = read(
        "varients: function\ndevice_guard: maybe\ndevice_check: NoChek\ndispatch: {CPU: my-co::k, CUDA: [x]}\n"
        "structured_inherits: a::b::c::d::e\nvariants:\n"
    )
    assert values is None
    assert_expected_inline(
        log.render(),
        """\
ops.yaml:1:1: error: unknown key 'varients' in entry 'abs' [unknown-key]
    1 | varients: function
      | ^^^^^^^^ did you mean 'variants'?
ops.yaml:1:1: error: the key 'func' is missing from entry 'abs' [missing-key]
    1 | varients: function
      | ^^^^^^^^ add 'func: ...'
ops.yaml:2:15: error: 'maybe' is neither true nor false [bad-boolean]
    2 | device_guard: maybe
      |               ^^^^^ expected True or False
ops.yaml:3:15: error: 'NoChek' is not a device check [unknown-device-check]
    3 | device_check: NoChek
      |               ^^^^^^ did you mean 'NoCheck'? (one of: NoCheck, ExactSame)
ops.yaml:4:19: error: '-' is not allowed in a C++ name [bad-identifier]
    4 | dispatch: {CPU: my-co::k, CUDA: [x]}
      |                   ^ use letters, digits and '_'
ops.yaml:4:33: error: expected text here, not a list [wrong-kind]
    4 | dispatch: {CPU: my-co::k, CUDA: [x]}
      |                                 ^^^
ops.yaml:5:32: error: 'a::b::c::d::e' has more than 3 namespaces [too-many-namespaces]
    5 | structured_inherits: a::b::c::d::e
      |                                ^^^
ops.yaml:6:1: error: the key 'variants' of entry 'abs' has no value [missing-value]
    6 | variants:
      | ^^^^^^^^ write a value, or remove the key
8 errors
""",
    )


def test_misspelt_required_key_is_reported_once() -> None:
    _, log = read("fnc: abs\n")
    assert [d.id for d in log.all] == ["unknown-key"]


def test_value_that_is_only_a_comment() -> None:
    _, log = read("func: abs\nvariants: #method\n")
    assert_expected_inline(
        log.render(),
        """\
ops.yaml:2:1: error: the key 'variants' of entry 'abs' has no value [missing-value]
    2 | variants: #method
      | ^^^^^^^^ ' #' starts a comment in YAML: quote the value
1 error
""",
    )


@pytest.mark.parametrize("written", ["just a string", "[a, b]", ""])
def test_entry_that_is_no_mapping(written: str) -> None:
    values, log = read(written)
    assert values is None
    assert [d.id for d in log.all] == ["wrong-kind"]


@pytest.mark.parametrize("word", ["true", "True", "TRUE", "yes", "Yes", "on", "ON"])
def test_spellings_of_true(word: str) -> None:
    assert boolean(node_of(word)) is True


@pytest.mark.parametrize("word", ["false", "False", "no", "NO", "off", "Off"])
def test_spellings_of_false(word: str) -> None:
    assert boolean(node_of(word)) is False


@pytest.mark.parametrize("word", ["'True'", "tRue", "1", "y", "''", "[True]", "nope"])
def test_what_is_no_boolean(word: str) -> None:
    assert "error" in mistakes(boolean, word)


@pytest.mark.parametrize(
    ("written", "words"),
    [("a", ["a"]), ("a, b ,c", ["a", "b", "c"]), ("[a, b]", ["a", "b"]), ("'a,\n    b'", ["a", "b"]), ("[]", [])],
)
def test_word_lists(written: str, words: list[str]) -> None:
    found = word_list(node_of(written))
    assert [word.text for word in found] == words
    assert [word.source.text[word.start : word.end] for word in found] == words


@pytest.mark.parametrize("written", ["a,,b", "a,", "',a'", "[a, '']", "[a, [b]]", "{a: b}"])
def test_what_is_no_word_list(written: str) -> None:
    assert "error" in mistakes(word_list, written)


def test_mistakes_of_all_items_are_reported() -> None:
    assert_expected_inline(
        mistakes(list_of(identifier), "[a b, 1c, ok, [x], new, 'a::b', '', é]"),
        """\
ops.yaml:1:6: error: ' ' is not allowed in a C++ name [bad-identifier]
    1 | k: [a b, 1c, ok, [x], new, 'a::b', '', ?]
      |      ^ use letters, digits and '_'
ops.yaml:1:10: error: a C++ name can't start with a digit [bad-identifier]
    1 | k: [a b, 1c, ok, [x], new, 'a::b', '', ?]
      |          ^ use letters, digits and '_'
ops.yaml:1:18: error: expected text here, not a list [wrong-kind]
    1 | k: [a b, 1c, ok, [x], new, 'a::b', '', ?]
      |                  ^^^
ops.yaml:1:23: error: 'new' is a keyword of C++, not a name [bad-identifier]
    1 | k: [a b, 1c, ok, [x], new, 'a::b', '', ?]
      |                       ^^^
ops.yaml:1:30: error: write a name without a namespace [too-many-namespaces]
    1 | k: [a b, 1c, ok, [x], new, 'a::b', '', ?]
      |                              ^^^
ops.yaml:1:36: error: expected text here, not an empty value [wrong-kind]
    1 | k: [a b, 1c, ok, [x], new, 'a::b', '', ?]
      |                                    ^^
ops.yaml:1:40: error: '?' is not allowed in a C++ name [bad-identifier]
    1 | k: [a b, 1c, ok, [x], new, 'a::b', '', ?]
      |                                        ^ use letters, digits and '_'
""",
    )


@pytest.mark.parametrize("written", ["k", "_k1", "a::k", "at::native::k", "a::b::c::k"])
def test_qualified_names(written: str) -> None:
    assert qualified_name(node_of(written)).text == written


def test_what_is_no_qualified_name() -> None:
    written = ["my-co::k", "::k", "a::", "a:::b", "a::b::c::d::e", "at::delete", "a::1b", "a::b c", "a::b "]
    assert_expected_inline(
        "".join(mistakes(qualified_name, f"'{one}'") for one in written),
        """\
ops.yaml:1:7: error: '-' is not allowed in a C++ name [bad-identifier]
    1 | k: 'my-co::k'
      |       ^ use letters, digits and '_'
ops.yaml:1:5: error: a part of this C++ name is missing [bad-identifier]
    1 | k: '::k'
      |     ^ use letters, digits and '_'
ops.yaml:1:8: error: a part of this C++ name is missing [bad-identifier]
    1 | k: 'a::'
      |        ^ use letters, digits and '_'
ops.yaml:1:8: error: ':' is not allowed in a C++ name [bad-identifier]
    1 | k: 'a:::b'
      |        ^ use letters, digits and '_'
ops.yaml:1:15: error: 'a::b::c::d::e' has more than 3 namespaces [too-many-namespaces]
    1 | k: 'a::b::c::d::e'
      |               ^^^
ops.yaml:1:9: error: 'delete' is a keyword of C++, not a name [bad-identifier]
    1 | k: 'at::delete'
      |         ^^^^^^
ops.yaml:1:8: error: a C++ name can't start with a digit [bad-identifier]
    1 | k: 'a::1b'
      |        ^ use letters, digits and '_'
ops.yaml:1:9: error: ' ' is not allowed in a C++ name [bad-identifier]
    1 | k: 'a::b c'
      |         ^ use letters, digits and '_'
ops.yaml:1:9: error: ' ' is not allowed in a C++ name [bad-identifier]
    1 | k: 'a::b '
      |         ^ use letters, digits and '_'
""",
    )


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=12))
def test_any_text_is_a_name_or_a_mistake_inside_it(word: str) -> None:
    scalar = Scalar(word, Source("ops.yaml", word), 0, len(word))
    try:
        assert qualified_name(scalar) is scalar
        assert not set(word.split("::")) & KEYWORDS
    except UserError as problem:
        span = problem.diagnostics[0].span
        assert span is not None
        assert 0 <= span.start <= len(word)
        problem.diagnostics[0].render()


def test_torchs_tags(torch_source: Path) -> None:
    log = Diagnostics()
    tags = load_tags(torch_source / "native" / "tags.yaml", log)
    assert not log.all
    assert {"pointwise", "core", "view_copy"} <= set(tags)
    assert hash(tags) == hash(tags)


def test_mistakes_in_tags() -> None:
    log = Diagnostics()
    written = "- tag: x-y\n  desc: a\n- tga: b\n  desc: c\n- tag: d\n- tag: e\n  desc: f\n- tag: e\n  desc: g\n- h\n"
    tags = load_tags(Source("tags.yaml", written), log)
    assert list(tags) == ["e"]
    assert tags["e"].description == "f"
    assert_expected_inline(
        log.render(),
        """\
tags.yaml:1:9: error: '-' is not allowed in a C++ name [bad-identifier]
    1 | - tag: x-y
      |         ^ use letters, digits and '_'
tags.yaml:3:3: error: unknown key 'tga' in a tag [unknown-key]
    3 | - tga: b
      |   ^^^ did you mean 'tag'?
tags.yaml:5:3: error: the key 'desc' is missing from a tag [missing-key]
    5 | - tag: d
      |   ^^^ add 'desc: ...'
tags.yaml:8:8: error: the tag 'e' is declared twice [duplicate-tag]
    8 | - tag: e
      |        ^
tags.yaml:6:8: note: first declared here
    6 | - tag: e
      |        ^
tags.yaml:10:3: error: a tag must be a mapping, not text [wrong-kind]
   10 | - h
      |   ^ it has keys such as 'tag: ...', 'desc: ...'
5 errors
""",
    )


def test_tags_file_that_is_no_list() -> None:
    log = Diagnostics()
    assert not load_tags(Source("tags.yaml", "core: yes\n"), log)
    assert [d.id for d in log.all] == ["wrong-kind"]
