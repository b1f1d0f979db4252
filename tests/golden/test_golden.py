"""Each folder below `cases/` is a run of the generator, and what has to come of it; see `harness`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.golden.harness import Tree, case_names, expected_tree, run_case


@pytest.mark.parametrize("name", case_names())
def test_case(name: str, tmp_path: Path) -> None:
    outcome = run_case(name, tmp_path)
    assert outcome.exit_code in (0, 1), f"a bug of opgen's:\n{outcome.stderr}"
    assert outcome.strayed == (), "changed what it shouldn't have"
    assert str(tmp_path) not in outcome.stdout + outcome.stderr, "a path of this machine"
    if outcome.exit_code and not outcome.stdout.startswith(("[", "{")):  # with --format, a document of diagnostics
        assert outcome.stdout == "", "a report on standard output in spite of errors"
    difference = "\n".join(_differences(expected_tree(name), outcome.as_tree()))
    if difference:
        pytest.fail(
            f"{difference}\n\nIf this is how it should be:  python -m tests.golden.rewrite {name}", pytrace=False
        )


def _differences(expected: Tree, got: Tree) -> Iterator[str]:
    for path in sorted(expected.keys() | got.keys()):
        old, new = expected.get(path), got.get(path)
        if old == new:
            continue
        before, after = _lines(old), _lines(new)
        names = (path if old is not None else "(not expected)", path if new is not None else "(didn't come)")
        yield from difflib.unified_diff(before, after, *names, lineterm="", n=2)


def _lines(data: bytes | None) -> list[str]:
    return (data or b"").decode("utf-8", errors="backslashreplace").split("\n")
