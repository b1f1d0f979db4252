"""Logs with anything in them: each is read, or refused with file and line; none is an internal error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from opgen.autoheuristic.log_reader import read_logs
from opgen.autoheuristic.measurements import Measurements
from opgen.diagnostics import Diagnostics, Source
from opgen.frontend.nodes import read_source
from tests.autoheuristic.trained import COLUMNS, HEADER, log_text, toy_rows

GOOD: Final = log_text(toy_rows(12))


def _read(text: str) -> tuple[tuple[Measurements, ...], str]:
    log = Diagnostics()
    return read_logs([Source("log.txt", text)], log), log.render()


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ("1_000,1,x,small,1", "log.txt:27:1: error: the value '1_000' of 'm' is not a number"),
        ("\u0661,1,x,small,1", "log.txt:27:1: error: the value '\u0661' of 'm' is not a number"),
        (",1,x,small,1", "log.txt:27:1: error: the value '' of 'm' is not a number"),
        ("1" + "0" * 5000 + ",1,x,small,1", "is not finite"),
        ("1,-inf,x,small,1", "log.txt:27:3: error: the value '-inf' of 'n' is not finite"),
        ('1,"2,x,small,1', "log.txt:27:1: error: the row is not CSV"),
        (f'1,1,"{"x" * 200_000}",small,1', "log.txt:27:1: error: the row is not CSV: field larger than field limit"),
        ("1,1,x,small,0", "log.txt:27:13: error: the feedback '0' is not positive"),
        ("1,1,x,small,None", "log.txt:27:13: error: the feedback 'None' is not a number"),
        ('1,1,"x, y",small,nan', "log.txt:27:18: error: the feedback 'nan' is not a number"),
        ("{}", "log.txt:27:1: error: the row has 1 field"),
        ("[" * 10_000, "log.txt:27:1: error: the row has 1 field"),
    ],
)
def test_rows_are_refused_where_they_are(row: str, problem: str) -> None:
    assert problem in _read(GOOD + row + "\n")[1]


@pytest.mark.parametrize("end", ["", "\n", "\n\n\n", COLUMNS + "\n"])
def test_blank_lines_and_repeated_column_names_are_skipped(end: str) -> None:
    (read,), problems = _read(GOOD + end)
    assert (len(read.points), problems) == (12, "")


def test_whole_numbers_are_exact_and_equal_ones_are_one() -> None:
    rows = [
        f"{m},{n},x,{c},1" for m in (2**60, 2**60 + 1, "16.0", "1.6e1", "+16", "16") for n in range(5) for c in "ab"
    ]
    (read,), _ = _read(log_text(rows))
    assert sorted({point.inputs[0] for point in read.points}) == [16, 2**60, 2**60 + 1]
    assert all(isinstance(point.inputs[0], int) for point in read.points)


def test_texts_are_kept_as_they_are() -> None:
    texts = [" x", "x ", 'a"b', "ü,", "'", "torch.float16", "", "None"]
    quoted = ['"' + text.replace('"', '""') + '"' for text in texts]
    (read,), problems = _read(log_text([f"{m},1,{text},{c},1" for m in (1, 2) for text in quoted for c in "ab"]))
    assert problems == ""
    assert {point.inputs[2] for point in read.points} == set(texts)


def test_a_log_that_is_not_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log.txt").write_bytes(GOOD.encode().replace(b"small", b"sm\xffll"))
    with pytest.raises(Exception, match="the byte 0xff is not UTF-8"):
        read_source(tmp_path / "log.txt")


LINES: Final = st.one_of(
    st.sampled_from(
        [COLUMNS, json.dumps(HEADER), "", "{", "null", "[]", "1,2,x,small,1", "m,n,choice,feedback", '"', ",,,,"]
    ),
    st.text(st.characters(codec="utf-8"), max_size=30),
)


@settings(deadline=None, max_examples=150)
@example(['"'], 1, False)
@given(st.lists(LINES, max_size=6), st.integers(0, 2), st.booleans())
def test_no_text_is_an_internal_error(lines: list[str], kept: int, has_rows: bool) -> None:
    """Some good lines, then anything, then perhaps good rows."""
    good = GOOD.split("\n")
    text = "\n".join([*good[:kept], *lines, *(good[2:] if has_rows else ())])
    read, problems = _read(text)
    assert "error" in problems or len(read[0].points) == 12
    assert all(line.startswith(("log.txt:", " ")) or line[0].isdigit() for line in problems.splitlines())


@settings(deadline=None, max_examples=100)
@given(st.dictionaries(st.sampled_from([*HEADER, "other"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["m", "n", "dtype", "", "choice"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)))  # fmt: skip
def test_no_header_is_an_internal_error(changes: dict[str, object]) -> None:
    text = "\n".join([json.dumps({**HEADER, **changes}), COLUMNS, *toy_rows(12)])
    read, problems = _read(text)
    assert "error" in problems or len(read[0].points) == 12
