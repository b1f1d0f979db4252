"""The options of a training and its result: a tree for each device, with measures of its quality.

Settings(depth=6)  →  Trained(tree, choices, quality=(Quality("training", …), …))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from opgen.autoheuristic.measurements import Device, Feature, Number, Point, values_by_name
from opgen.autoheuristic.tree import Tree, find_leaf
from opgen.frozen_dataclass import dataclass

MAX_SLOWDOWN: Final = 1.5
"""The default of `Settings.max_slowdown`."""
TIE: Final = 1e-9
"""The relative difference from the best time up to which a time also counts as the best."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of training, from the flags."""

    depth: int | None = None
    """The depth of the tree; None tries several."""
    leaf_size: int | None = None
    """The fewest inputs of a leaf; None tries several."""
    max_slowdown: float = MAX_SLOWDOWN
    """The maximum slowdown of a leaf's choice, relative to the best, for any known input; else the leaf abstains."""
    seed: int = 0
    """The seed that splits inputs into training, validation and tests."""
    ranking: int = 1
    """The number of choices in a leaf."""
    fallback: str | None = None
    """Inductor's fallback choice; None to find it by name."""


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of a tree's choices for one part of the inputs."""

    part: str
    """`training`, `validation` or `test`."""
    inputs: int
    abstains: int
    """The number of inputs for which the fallback decides."""
    best: int
    """The number of inputs whose best choice is picked, or is among those that are ranked."""
    slowdown: tuple[float, float] | None
    """The time relative to the best choice: geometric mean and worst; None if it always abstains."""
    against_fallback: tuple[float, float] | None
    """Likewise, the time relative to the fallback; None if the fallback was never measured."""


@dataclass(frozen=True, slots=True)
class Trained:
    """The heuristic for one device."""

    device: Device
    numbers: tuple[tuple[str, Number, Number], ...]
    """The numerical features, with their measured minima and maxima."""
    texts: tuple[tuple[str, str], ...]
    """The categorical features, with their measured values."""
    choices: tuple[str, ...]
    """The choices that the indices in leaves refer to."""
    tree: Tree
    depth: int
    """The maximum depth."""
    leaf_size: int
    fallback: str | None
    quality: tuple[Quality, ...]
    inputs: int
    measurements: int
    fingerprint: str


def assess(
    part: str,
    tree: Tree,
    features: tuple[Feature, ...],
    choices: Sequence[str],
    points: Sequence[Point],
    fallback: str | None,
) -> Quality:
    """Return the figures of a tree for some points.

    Of several ranked choices the fastest counts, since Inductor measures them all.  Inputs for which none of a leaf's
    choices exists count as abstained, since Inductor then asks the fallback.
    """
    slowdowns, against = list[float](), list[float]()
    for point in points:
        times = dict(point.times)
        leaf = find_leaf(tree, values_by_name(features, point.inputs))
        found = [times[choices[index]] for _, index in leaf.ranked if choices[index] in times]
        if found:
            slowdowns.append(min(found) / point.best)
            if fallback in times:
                against.append(min(found) / times[fallback])
    best = sum(slowdown <= 1 + TIE for slowdown in slowdowns)
    return Quality(part, len(points), len(points) - len(slowdowns), best, _summary(slowdowns), _summary(against))


def _summary(ratios: Sequence[float]) -> tuple[float, float] | None:
    """Return the geometric mean of ratios, and the largest one."""
    usable = [ratio for ratio in ratios if not math.isnan(ratio)]
    if not usable:
        return None
    # A choice that is infinitely faster than a fallback that failed has no logarithm.
    logarithms = [math.log(max(ratio, 1e-300)) for ratio in usable]
    return math.exp(math.fsum(logarithms) / len(logarithms)) if max(usable) < math.inf else math.inf, max(usable)
