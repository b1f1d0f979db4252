"""A decision tree as a value: conditions on features, and in each leaf its best choices.

    Split(AtMost(m, 32), then=Leaf(((0.9, 1),)), otherwise=Leaf(()))

picks choice 1 for small inputs, and abstains for all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from opgen.autoheuristic.combinations import evaluate
from opgen.autoheuristic.measurements import Feature, Number, Value
from opgen.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class AtMost:
    """Holds if the value of a feature is at most `threshold`."""

    feature: Feature
    threshold: Number

    def __str__(self) -> str:
        return f"{self.feature.name} ≤ {self.threshold:g}"


@dataclass(frozen=True, slots=True)
class Equals:
    """Holds if the value of a feature, as text, is `value`."""

    feature: Feature
    value: str

    def __str__(self) -> str:
        return f"{self.feature.name} = {self.value}"


Condition: TypeAlias = "AtMost | Equals"


@dataclass(frozen=True, slots=True)
class Leaf:
    """The decision of a heuristic."""

    ranked: tuple[tuple[float, int], ...]
    """The share of points for which each choice is the best, and its index, the best first; empty if it abstains."""


@dataclass(frozen=True, slots=True)
class Split:
    """A condition, and the subtrees for when it holds and when it doesn't."""

    condition: Condition
    then: Tree
    otherwise: Tree


Tree: TypeAlias = "Leaf | Split"


def holds(condition: Condition, values: Mapping[str, Value]) -> bool:
    """Return whether the condition holds for inputs with these values.

    Raises:
        KeyError: a value that the condition needs is missing.
        ValueError: the value is not a number, or can't be computed.
    """
    name = condition.feature.name
    if isinstance(condition, Equals):
        return str(values[name]) == condition.value
    value = values[name] if name in values else evaluate(name, values)
    if isinstance(value, str):
        raise ValueError(f"{name} is not a number: '{value}'")
    return value <= condition.threshold


def find_leaf(tree: Tree, values: Mapping[str, Value]) -> Leaf:
    """Return the leaf for inputs with these values; errors are those of `holds`."""
    while isinstance(tree, Split):
        tree = tree.then if holds(tree.condition, values) else tree.otherwise
    return tree


def simplify(tree: Tree) -> Tree:
    """Return a tree with the same choices for all inputs, without redundant comparisons.

    Shares are not compared; merged leaves keep the shares of one of them.
    """
    if isinstance(tree, Leaf):
        return tree
    return _joined(Split(tree.condition, simplify(tree.then), simplify(tree.otherwise)))


def _joined(tree: Split) -> Tree:
    """Return a split of simple branches, or one branch if the comparison is redundant."""
    low, high = tree.then, tree.otherwise
    if _same_choices(low, high):
        return low
    # x <= 1: a; x <= 2: a; else b    →  x <= 2: a; else b
    if isinstance(high, Split) and _are_neighbors(tree, high) and _same_choices(low, high.then):
        return _joined(high)
    # x <= 2: (x <= 1: a; else b); else b    →  x <= 1: a; else b
    if isinstance(low, Split) and _are_neighbors(tree, low) and _same_choices(low.otherwise, high):
        return _joined(Split(low.condition, low.then, high))
    return tree


def _are_neighbors(one: Split, other: Split) -> bool:
    """Return whether both compare the same number."""
    conditions = one.condition, other.condition
    return (
        all(isinstance(condition, AtMost) for condition in conditions)
        and conditions[0].feature == conditions[1].feature
    )


def _same_choices(one: Tree, other: Tree) -> bool:
    if isinstance(one, Split) or isinstance(other, Split):
        return False
    return [choice for _, choice in one.ranked] == [choice for _, choice in other.ranked]


def walk(tree: Tree) -> Iterator[Tree]:
    """Yield the tree and all trees within it, from the root on."""
    yield tree
    if isinstance(tree, Split):
        yield from walk(tree.then)
        yield from walk(tree.otherwise)


def depth(tree: Tree) -> int:
    """Return the depth: the maximum number of evaluated conditions."""
    return 0 if isinstance(tree, Leaf) else 1 + max(depth(tree.then), depth(tree.otherwise))
