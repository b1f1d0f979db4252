"""No regular expression of opgen takes time that doubles with each character of a text."""

from __future__ import annotations

import ast
import importlib
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain, permutations, product
from pathlib import Path
from types import FrameType
from typing import Final

import pytest

SECONDS: Final = 2.0
REPEATS: Final = 30
CALLS: Final = {f"re.{name}" for name in ("compile", "fullmatch", "match", "search", "sub", "split", "finditer")}


def is_call_of_re(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in CALLS


def patterns_of(path: Path, repository: Path) -> Iterator[tuple[int, str | bytes]]:
    """Yield each pattern in a module and its line, those of f-strings with the values that the module has."""
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if is_call_of_re(node)]
    for node in calls:
        assert isinstance(node, ast.Call)
        argument = node.args[0]
        if isinstance(argument, ast.Constant):
            assert isinstance(argument.value, str | bytes)
            yield node.lineno, argument.value
            continue
        name = ".".join(path.relative_to(repository).with_suffix("").parts)
        with suppress(NameError, AttributeError):  # it takes a value of a function
            yield node.lineno, eval(ast.unparse(argument), dict(vars(importlib.import_module(name))))


def texts_for(pattern: str) -> Iterator[str]:
    """Yield texts of repeated characters that the pattern names, after which it can't match."""
    marks = [each for each in dict.fromkeys(re.sub(r"\\[a-zA-Z]", "", pattern)) if not each.isalnum() and each != "\\"]
    alphabet = ["a", "1", " ", "\n", *(each for each in marks if each not in " \n")]
    pairs = map("".join, permutations(alphabet, 2))
    for start, unit in chain(product(["", *alphabet], alphabet), product([""], pairs)):
        yield start + unit * REPEATS + "\0"


@pytest.fixture
def limited() -> Iterator[None]:
    """A limit of processor time, which the machine's load doesn't change."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, end)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


def test_patterns_do_not_backtrack_exponentially(limited: None, repository: Path) -> None:
    count = 0
    for path in sorted((repository / "opgen").rglob("*.py")):
        for line, pattern in patterns_of(path, repository):
            text = pattern if isinstance(pattern, str) else pattern.decode("latin1")
            compiled = re.compile(text, re.VERBOSE if "\n" in text else 0)
            count += 1
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
            for subject in texts_for(text):
                try:
                    compiled.fullmatch(subject)
                    compiled.search(subject)
                except TimeoutError:
                    pytest.fail(f"{path.relative_to(repository)}:{line}: {text!r} takes too long for {subject!r}")
    assert count > 100
