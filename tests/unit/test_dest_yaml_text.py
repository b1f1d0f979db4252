"""Every YAML reader must get back what was written."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from opgen.dest.yaml_text import mapping, scalar, sequence

SCALARS = st.one_of(
    st.text(alphabet=st.characters(exclude_categories=["Cs"])),
    st.text(alphabet="aZ_09:# '\"\\{}[]&*!|>%@`,-?=~.\n\t"),
    st.integers(),
    st.floats(allow_nan=False),
    st.booleans(),
    st.none(),
)


@given(SCALARS)
def test_what_is_written_is_read_back(value: str | int | float | bool | None) -> None:
    found = yaml.safe_load(f"- key: {scalar(value)}\n")[0]["key"]
    assert found == value
    assert type(found) is type(value)


@given(st.dictionaries(st.from_regex(r"key_[a-z]*", fullmatch=True), SCALARS, min_size=1))
def test_mappings_are_read_back(items: dict[str, str | int | float | bool | None]) -> None:
    assert yaml.safe_load(f"list:\n{mapping(items, '  ')}") == {"list": [items]}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("at::Tensor &", "at::Tensor &"),
        ('aten::f(str s="x") -> (Tensor(a!) b)', 'aten::f(str s="x") -> (Tensor(a!) b)'),
        ("a: b", "'a: b'"),
        ("a #b", "'a #b'"),
        ("it's", "it's"),
        ("'", "''''"),
        ("", "''"),
        ("NO", "'NO'"),
        ("y", "'y'"),
        ("1e3", "'1e3'"),
        ("{}", "'{}'"),
        ("a\n", '"a\\U0000000a"'),
        (1e-05, "1.0e-05"),
        (1e16, "1.0e+16"),
        (float("-inf"), "-.inf"),
        (float("nan"), ".nan"),
        (True, "true"),
        (None, "null"),
    ],
)
def test_quotes_are_used_where_needed(value: str | float | bool | None, text: str) -> None:
    assert scalar(value) == text


def test_a_sequence_without_elements_is_written_as_one() -> None:
    assert sequence("returns", [], "  ") == "  returns: []\n"
    assert sequence("returns", ["  - a\n"], "  ") == "  returns:\n  - a\n"
