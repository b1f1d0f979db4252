"""A heuristic and two of its features → its choices for a grid of their values.

m and n, with k = 1024  →  rows of cells, each with a leaf
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

from opgen.autoheuristic.combinations import names_in
from opgen.autoheuristic.measurements import Number, Value
from opgen.autoheuristic.reading import ReadHeuristic
from opgen.autoheuristic.tree import AtMost, Equals, Leaf, Split, find_leaf, walk
from opgen.diagnostics import Diagnostics, expected
from opgen.frozen_dataclass import dataclass

OVER_FLAG: Final = "--over"
AT_FLAG: Final = "--at"
RANGE_FLAG: Final = "--range"
CELLS: Final = 64
"""Cells of a grid in each direction."""
_LOGARITHMIC: Final = 32
"""The ratio of the greatest to the least number from which an axis is logarithmic."""

Derive: TypeAlias = "Callable[[Mapping[str, Value]], Mapping[str, Value]]"
"""Computes derived features from the values of features."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One of the two features."""

    name: str
    low: Number
    high: Number

    @property
    def is_logarithmic(self) -> bool:
        """Whether equal distances are equal ratios."""
        return self.low > 0 and self.high / self.low >= _LOGARITHMIC

    def value(self, share: float) -> Number:
        """Return the number at a fraction of the axis's length; an integer if both ends are."""
        if self.is_logarithmic:
            exact = math.exp(math.log(self.low) * (1 - share) + math.log(self.high) * share)
        else:
            exact = self.low * (1 - share) + self.high * share
        return round(exact) if isinstance(self.low, int) and isinstance(self.high, int) else exact


@dataclass(frozen=True, slots=True)
class ChoicesMap:
    """The choices over two features."""

    across: Axis
    up: Axis
    fixed: tuple[tuple[str, Value], ...]
    """The values of all other features, sorted by name."""
    rows: tuple[tuple[Leaf, ...], ...]
    """The leaf of each cell, rows from the bottom up."""


@dataclass(frozen=True, slots=True)
class MapFlags:
    """The options of a drawing."""

    over: tuple[str, ...] = ()
    """The two features; empty for those that the tree uses most."""
    at: tuple[tuple[str, Value], ...] = ()
    """Values of other features, by name."""
    ranges: tuple[Axis, ...] = ()
    """The ranges of features to draw."""


def draw_map(heuristic: ReadHeuristic, flags: MapFlags, derive: Derive, log: Diagnostics) -> ChoicesMap | None:
    """Return the choices over two features; None, with an error logged, if there are fewer."""
    names = numeric_features(heuristic)
    _check_names(OVER_FLAG, flags.over, names, heuristic, log)
    _check_names(RANGE_FLAG, [axis.name for axis in flags.ranges], names, heuristic, log)
    known = sorted({*typical_values(heuristic), *asked_features(heuristic)})
    _check_names(AT_FLAG, [name for name, _ in flags.at], known, heuristic, log)
    over = flags.over or names[:2]
    if len(over) < 2:
        message = f"'{heuristic.name}' has fewer than two numerical features, so its choices are not drawn"
        log.warning("no-choices-drawing", message)
    if log.has_errors or len(over) < 2:
        return None
    ranges = {axis.name: axis for axis in flags.ranges}
    across, up = [ranges.get(name) or find_axis(heuristic, name) for name in over]
    return compute_map(heuristic, across, up, dict(flags.at), derive)


def _check_names(
    flag: str, names: Sequence[str], legal: Sequence[str], heuristic: ReadHeuristic, log: Diagnostics
) -> None:
    for name in names:
        if name not in legal:
            message = f"{flag}: '{heuristic.name}' has no feature '{name}'"
            log.error("unknown-feature", message, label=expected(name, legal))


def numeric_features(heuristic: ReadHeuristic) -> tuple[str, ...]:
    """Return the numerical features: first those that the tree uses most, also in formulas, then the others."""
    counts = Counter[str]()
    for part in walk(heuristic.tree):
        if isinstance(part, Split) and isinstance(part.condition, AtMost):
            counts.update(_ingredients(part.condition.feature.name))
    used = (name for name, _ in counts.most_common())
    return tuple(dict.fromkeys([*used, *(name for name, _, _ in heuristic.numbers)]))


def asked_features(heuristic: ReadHeuristic) -> frozenset[str]:
    """Return the features that the tree uses."""
    return frozenset(part.condition.feature.name for part in walk(heuristic.tree) if isinstance(part, Split))


def _ingredients(name: str) -> tuple[str, ...]:
    """Return the features that a feature is computed from: itself, unless its name is a formula."""
    try:
        return names_in(name) or (name,)
    except (SyntaxError, ValueError):
        return (name,)


def compute_map(
    heuristic: ReadHeuristic, across: Axis, up: Axis, given: Mapping[str, Value], derive: Derive
) -> ChoicesMap:
    """Return the choices over two features.

    Args:
        heuristic: its tree decides.
        across: the horizontal axis.
        up: the vertical axis.
        given: values of other features, which replace typical ones.
        derive: computes features from others; the results replace typical values, but not given ones.
    """
    fixed = {**typical_values(heuristic), **given}
    drawn = {across.name, up.name}
    rows, computed = [], set[str]()
    for row in range(CELLS):
        leaves = []
        for column in range(CELLS):
            here = {across.name: across.value((column + 0.5) / CELLS), up.name: up.value((row + 0.5) / CELLS)}
            derived = derive({**fixed, **here})
            computed.update(derived)
            leaves.append(find_leaf(heuristic.tree, {**fixed, **derived, **given, **here}))
        rows.append(tuple(leaves))
    shown = {
        name: value for name, value in fixed.items() if name not in drawn and (name in given or name not in computed)
    }
    return ChoicesMap(across, up, tuple(sorted(shown.items())), tuple(rows))


def typical_values(heuristic: ReadHeuristic) -> dict[str, Value]:
    """Return a typical value of each feature that the tree needs: the middle of its range, or a known string."""
    values: dict[str, Value] = {}
    values.update((name, find_axis(heuristic, name).value(0.5)) for name in numeric_features(heuristic))
    for name, text in heuristic.texts:
        values.setdefault(name, text)
    for part in walk(heuristic.tree):
        if isinstance(part, Split) and isinstance(part.condition, Equals):
            values.setdefault(part.condition.feature.name, part.condition.value)
    return values


def find_axis(heuristic: ReadHeuristic, name: str) -> Axis:
    """Return the range of a feature: the measured one, or else one with all thresholds."""
    for known, low, high in heuristic.numbers:
        if known == name and low < high:
            return Axis(name, low, high)
    thresholds = [
        part.condition.threshold
        for part in walk(heuristic.tree)
        if isinstance(part, Split) and isinstance(part.condition, AtMost) and part.condition.feature.name == name
    ]
    if not thresholds:
        return Axis(name, 1, 4096)
    low, high = min(thresholds), max(thresholds)
    return (
        Axis(name, max(1, math.floor(low / 2)), math.ceil(high * 2))
        if low >= 1
        else Axis(name, min(low * 2, 0), high * 2 or 1)
    )
