"""Trees as values: what is simplified decides as before."""

from __future__ import annotations

from typing import Final

from expecttest import assert_expected_inline
from hypothesis import given, settings
from hypothesis import strategies as st

from opgen.autoheuristic.measurements import Feature, Value
from opgen.autoheuristic.tree import AtMost, Equals, Leaf, Split, Tree, depth, find_leaf, simplify, walk

NUMBERS: Final = (Feature("x"), Feature("y"))
TEXT: Final = Feature("text", is_categorical=True)


def _leaf(choice: int | None) -> Leaf:
    return Leaf(() if choice is None else ((1.0, choice),))


CONDITIONS: Final = st.one_of(
    st.builds(AtMost, st.sampled_from(NUMBERS), st.integers(0, 5)),
    st.builds(Equals, st.just(TEXT), st.sampled_from(["a", "b"])),
)
TREES: Final[st.SearchStrategy[Tree]] = st.recursive(
    st.builds(_leaf, st.sampled_from([None, 0, 1])),
    lambda trees: st.builds(Split, CONDITIONS, trees, trees),
    max_leaves=12,
)


def _grown(tree: Tree, low: dict[Feature, int], high: dict[Feature, int]) -> Tree:
    """The tree without splits that a training would not make: those that no value of its branch can tell apart."""
    if isinstance(tree, Leaf):
        return tree
    condition = tree.condition
    if isinstance(condition, Equals):
        return Split(condition, _grown(tree.then, low, high), _grown(tree.otherwise, low, high))
    feature, threshold = condition.feature, int(condition.threshold)
    if not low.get(feature, -1) < threshold < high.get(feature, 6):
        return _grown(tree.then, low, high)
    then = _grown(tree.then, low, {**high, feature: threshold})
    return Split(condition, then, _grown(tree.otherwise, {**low, feature: threshold}, high))


@settings(deadline=None)
@given(TREES)
def test_simple_trees_decide_alike(tree: Tree) -> None:
    tree = _grown(tree, {}, {})
    simple = simplify(tree)
    for x in range(7):
        for y in range(7):
            for text in "abc":
                values: dict[str, Value] = {"x": x, "y": y, "text": text}
                assert find_leaf(simple, values) == find_leaf(tree, values)
    assert depth(simple) <= depth(tree)
    splits = [part for part in walk(simple) if isinstance(part, Split)]
    assert all(split.then != split.otherwise for split in splits if isinstance(split.then, Leaf))


def test_thresholds_that_make_no_difference_go() -> None:
    x = NUMBERS[0]
    tree = Split(AtMost(x, 1), _leaf(0), Split(AtMost(x, 4), Split(AtMost(x, 2), _leaf(0), _leaf(1)), _leaf(1)))
    assert_expected_inline(
        str(simplify(tree)),
        """\
Split(condition=AtMost(feature=Feature(name='x', is_categorical=False, is_combined=False), threshold=2), \
then=Leaf(ranked=((1.0, 0),)), otherwise=Leaf(ranked=((1.0, 1),)))""",
    )
