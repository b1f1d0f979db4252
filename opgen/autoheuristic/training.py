"""Measurements → a decision tree that picks the fastest choice, trained with scikit-learn.

The tree predicts, for each choice, the logarithm of its time relative to the best one, so near misses cost
little and bad choices much.  Depth and leaf size are tuned by cross-validation.  scikit-learn sees ranks instead of
values: it computes with 32 bits, and ranks are exact there whatever the values are.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid
from sklearn.tree import DecisionTreeRegressor

from opgen.autoheuristic.measurements import Feature, Measurements, Number, Value, values_by_name
from opgen.autoheuristic.trained import TIE, Settings, Trained, assess
from opgen.autoheuristic.tree import AtMost, Condition, Equals, Leaf, Split, Tree, holds, simplify
from opgen.frozen_dataclass import dataclass

DEPTHS: Final = (3, 6, 9, 12, 16)
"""Depths that cross-validation tries."""
LEAF_SIZES: Final = (20, 5, 1)
"""Leaf sizes that cross-validation tries."""
_FOLDS: Final = 3
_PARTS: Final = (("training", 0.6), ("validation", 0.2), ("test", 0.2))
_CAP: Final = math.log(10)
"""A choice that is ten times slower than the best is as bad as one that doesn't run."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column of scikit-learn's input: the rank of a feature's value, or whether it equals a string."""

    feature: Feature
    values: tuple[Value, ...]
    """The distinct values, sorted; for strings, the one that is compared with."""

    def encode(self, value: Value) -> float:
        if self.feature.is_categorical:
            return float(value == self.values[0])
        return float(bisect_left(self.values, value))

    def condition(self, rank: float) -> Condition:
        """Return the condition `encode(value) <= rank` on the value; for strings, its negation."""
        if self.feature.is_categorical:
            return Equals(self.feature, str(self.values[0]))
        at = math.floor(rank)
        return AtMost(self.feature, _between(self.values[at], self.values[at + 1]))


def _between(low: Value, high: Value) -> Number:
    """Return a number in the middle: at least `low`, less than `high`."""
    assert not isinstance(low, str), "only numbers have ranks"
    assert not isinstance(high, str), "only numbers have ranks"
    if isinstance(low, int) and isinstance(high, int):
        return (low + high) // 2
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def train(measurements: Measurements, settings: Settings) -> Trained:
    """Return the heuristic for the device of the measurements; it is deterministic."""
    choices, parts = measurements.choices, _parts(measurements, settings.seed)
    columns = tuple(_columns(measurements))
    places = [(column, measurements.features.index(column.feature)) for column in columns]
    rows = [[column.encode(point.inputs[at]) for column, at in places] for point in measurements.points]
    inputs = np.array(rows, dtype=np.float32)
    slowdowns = _slowdowns(measurements, choices)
    costs = np.minimum(np.log(np.nan_to_num(slowdowns, nan=math.inf, posinf=math.inf)), _CAP)
    fitted = _fit(settings, inputs[parts[0]], costs[parts[0]])
    grower = _Grower(fitted.tree_, columns, inputs, slowdowns, costs, settings)
    grown = simplify(grower.grow(0, np.array(parts[0]), np.array(parts[0] + parts[1])))
    values = [values_by_name(measurements.features, point.inputs) for point in measurements.points]
    tree = _with_shares(grown, [(values[row], int(costs[row].argmin())) for row in parts[0]])
    fallback = settings.fallback or _find_fallback(choices)
    quality = tuple(
        assess(name, tree, measurements.features, choices, [measurements.points[i] for i in rows], fallback)
        for (name, _), rows in zip(_PARTS, parts, strict=True)
    )
    return Trained(
        device=measurements.device,
        numbers=tuple(_ranges(measurements)),
        texts=tuple(_texts(measurements)),
        choices=choices,
        tree=tree,
        depth=fitted.max_depth,
        leaf_size=fitted.min_samples_leaf,
        fallback=fallback,
        quality=quality,
        inputs=len(measurements.points),
        measurements=sum(len(point.times) for point in measurements.points),
        fingerprint=measurements.fingerprint(),
    )


def _find_fallback(choices: Sequence[str]) -> str | None:
    """Return Inductor's fallback choice: the kernel of a library, if there is exactly one."""
    extern = [choice for choice in choices if choice.startswith("extern")]
    return extern[0] if len(extern) == 1 else None


def _parts(measurements: Measurements, seed: int) -> list[list[int]]:
    """Return the points of each part, assigned by hash, so that additional data moves few of them."""
    names = [feature.name for feature in measurements.features if not feature.is_combined]

    def position(index: int) -> bytes:
        inputs = measurements.points[index].inputs[: len(names)]
        return hashlib.sha256(f"{seed} {inputs!r}".encode()).digest()

    order = sorted(range(len(measurements.points)), key=position)
    first = round(len(order) * _PARTS[0][1])
    second = round(len(order) * (_PARTS[0][1] + _PARTS[1][1]))
    return [order[:first], order[first:second], order[second:]]


def _columns(measurements: Measurements) -> Iterator[_Column]:
    """Yield a column for each numerical feature that varies, and for each value of categorical ones."""
    for index, feature in enumerate(measurements.features):
        values = sorted({point.inputs[index] for point in measurements.points})
        if len(values) > 1 and not feature.is_categorical:
            yield _Column(feature, tuple(values))
        elif len(values) > 1:
            # One of two values is sufficient.
            yield from (_Column(feature, (value,)) for value in (values if len(values) > 2 else values[:1]))


def _ranges(measurements: Measurements) -> Iterator[tuple[str, Number, Number]]:
    """Yield each numerical feature, with its minimum and maximum."""
    for index, feature in enumerate(measurements.features):
        if not feature.is_categorical and not feature.is_combined:
            values = [point.inputs[index] for point in measurements.points]
            numbers = [value for value in values if not isinstance(value, str)]
            yield feature.name, min(numbers), max(numbers)


def _texts(measurements: Measurements) -> Iterator[tuple[str, str]]:
    """Yield each categorical feature, with its measured values."""
    for index, feature in enumerate(measurements.features):
        if feature.is_categorical:
            yield from ((feature.name, text) for text in sorted({str(p.inputs[index]) for p in measurements.points}))


def _slowdowns(measurements: Measurements, choices: Sequence[str]) -> Any:
    """Return the time of each choice relative to the best, for each point; NaN where it was not measured."""
    result = np.full((len(measurements.points), len(choices)), math.nan)
    place = {choice: index for index, choice in enumerate(choices)}
    for row, point in enumerate(measurements.points):
        for choice, time in point.times:
            result[row, place[choice]] = time / point.best
    return result


def _fit(settings: Settings, inputs: Any, costs: Any) -> Any:
    """Fit scikit-learn's tree, with the best depth and leaf size; of equally good ones, those of the smaller tree."""
    sizes = [size for size in LEAF_SIZES if size == 1 or size * 6 <= len(inputs)]
    grid = {
        "max_depth": DEPTHS if settings.depth is None else (settings.depth,),
        "min_samples_leaf": sizes if settings.leaf_size is None else (settings.leaf_size,),
    }
    tree = DecisionTreeRegressor(random_state=settings.seed)
    if len(candidates := ParameterGrid(grid)) == 1:
        return tree.set_params(**candidates[0]).fit(inputs, costs)

    def score(estimator: Any, inputs: Any, costs: Any) -> float:
        """Return the negative mean cost of the best of the first 1, 2, … ranked choices."""
        picked = np.argsort(estimator.predict(inputs), axis=1, kind="stable")[:, : settings.ranking]
        best_so_far = np.minimum.accumulate(np.take_along_axis(costs, picked, axis=1), axis=1)
        return -round(float(best_so_far.mean()), 9)

    return GridSearchCV(tree, grid, scoring=score, cv=KFold(_FOLDS)).fit(inputs, costs).best_estimator_


@dataclass(frozen=True, slots=True)
class _Grower:
    """Converts the arrays of scikit-learn's tree to a `Tree`."""

    arrays: Any
    columns: Sequence[_Column]
    inputs: Any
    slowdowns: Any
    costs: Any
    settings: Settings

    def grow(self, node: int, rows: Any, known: Any) -> Tree:
        """Return the tree at `node`, without the shares of its choices.

        Args:
            node: index of the node.
            rows: the training points that reach it.
            known: these and the validation points, which determine whether a leaf abstains.
        """
        at = self.arrays.feature[node]
        if at < 0:
            return Leaf(self._ranked(rows, known))
        rank = self.arrays.threshold[node]
        is_low, is_low_known = self.inputs[rows, at] <= rank, self.inputs[known, at] <= rank
        low = self.grow(self.arrays.children_left[node], rows[is_low], known[is_low_known])
        high = self.grow(self.arrays.children_right[node], rows[~is_low], known[~is_low_known])
        column = self.columns[at]
        if column.feature.is_categorical:
            low, high = high, low
        return Split(column.condition(rank), low, high)

    def _ranked(self, rows: Any, known: Any) -> tuple[tuple[float, int], ...]:
        """Return the choices of a leaf, the fastest one first; none if they may cost too much."""
        ran = np.isfinite(self.slowdowns[rows]).any(axis=0)
        order = np.argsort(self.costs[rows].mean(axis=0), kind="stable")
        picked = [int(choice) for choice in order if ran[choice]][: self.settings.ranking]
        slowdowns = self.slowdowns[known][:, picked]
        # Failed measurements are infinite; without a measurement Inductor uses the fallback.
        measured = ~np.isnan(slowdowns).all(axis=1)
        worst = np.nanmin(slowdowns[measured], axis=1).max(initial=0)
        return () if worst > self.settings.max_slowdown * (1 + TIE) else tuple((0.0, choice) for choice in picked)


def _with_shares(tree: Tree, points: Sequence[tuple[Mapping[str, Value], int]]) -> Tree:
    """Return the tree with the share of points for which each choice of a leaf is the best.

    A share is above 0, since torch ignores a choice whose share is not.
    """
    if isinstance(tree, Leaf):
        wins = Counter(best for _, best in points)
        return Leaf(tuple((max(0.001, round(wins[choice] / len(points), 3)), choice) for _, choice in tree.ranked))
    sides: tuple[list[tuple[Mapping[str, Value], int]], ...] = ([], [])
    for point in points:
        sides[not holds(tree.condition, point[0])].append(point)
    return Split(tree.condition, _with_shares(tree.then, sides[0]), _with_shares(tree.otherwise, sides[1]))
