"""Decisions of the heuristics that torch ships → logs → heuristics of ours that decide alike.

Inputs are drawn from a grid. What a heuristic picks is given the shortest time; where it abstains, a choice `fallback`
is: then torch would ask the fallback in both cases.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from tests.autoheuristic import shipped
from tests.autoheuristic.trained import load, log_text, train

FALLBACK: Final = "fallback"
RANKED: Final = 10
FRESH: Final = 2000
# How many inputs are measured, and flags. Rankings have about 120 choices each; the trees of pad_mm are the deepest.
SIZES: Final[Mapping[str, tuple[int, tuple[str, ...]]]] = {
    "mm": (3600, ("--ranking", str(RANKED), "--depth", "12", "--leaf-size", "1")),
    "mixed_mm": (4000, ()),
    "pad_mm": (20000, ("--depth", "20", "--leaf-size", "1")),
}


@pytest.mark.parametrize("name", shipped.SHIPPED)
def test_decisions_agree(tmp_path: Path, name: str) -> None:
    theirs = shipped.load(name)
    decision = theirs.get_name()
    count, flags = SIZES[decision]
    log = _log(theirs, decision, count)
    ours = load(train(tmp_path, log, "--combine", "torch", "--max-slowdown", "inf", *flags))
    agreed = 0
    for context in shipped.contexts(decision, FRESH, seed=2):
        shipped.augmented(decision, context)
        expected, actual = _decision(theirs, context), _decision(ours, context)
        agreed += expected == [choice for choice in actual if choice != FALLBACK]
    assert agreed / FRESH >= 0.98


def _decision(heuristic: Any, context: Any) -> list[str]:
    """The ranked choices for matrix multiplication, which Inductor measures; else the one choice, if any."""
    if heuristic.get_name() == "mm":
        return list(heuristic.get_decisions_ranked(context) or ())[:RANKED]
    decision = heuristic.get_decision(context, [])
    return [] if decision is None else [decision]


def _log(theirs: Any, decision: str, count: int) -> str:
    contexts = list(shipped.contexts(decision, count, seed=1))
    numerical, categorical = contexts[0].get_numerical_and_categorical_features()
    return log_text(
        _rows(theirs, contexts),
        f"{contexts[0].get_feature_names_csv()},choice,feedback",
        name=decision,
        numerical_features=numerical,
        categorical_features=categorical,
    )


def _rows(theirs: Any, contexts: list[Any]) -> Iterator[str]:
    decision = theirs.get_name()
    values = [context.get_feature_values_csv() for context in contexts]
    picked = [_decision(theirs, shipped.augmented(decision, context)) for context in contexts]
    # Of the choices that are never picked nothing can be learned.
    choices = sorted({FALLBACK, *(choice for choices in picked for choice in choices)})
    for text, ranked in zip(values, picked, strict=True):
        times = {choice: 1.1**rank for rank, choice in enumerate(ranked or [FALLBACK])}
        yield from (f"{text},{choice},{times.get(choice, 5.0)}" for choice in choices)
