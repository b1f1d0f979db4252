"""A heuristic → drawings in SVG: its tree, and its choices over two features.

Split(AtMost(m, 32), Leaf(…), Leaf(…))    →  a box "m ≤ 32" with lines to two boxes with the names of choices
"""

from __future__ import annotations

import colorsys
import html
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from opgen.autoheuristic.choices_map import CELLS, Axis, ChoicesMap
from opgen.autoheuristic.reading import ReadHeuristic
from opgen.autoheuristic.tree import Leaf, Split, Tree, walk
from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

_CHARACTER: Final = 7
"""Width of a character, in pixels, in the font of the drawing."""
_ROW: Final = 30
_BOX: Final = 22
_GAP: Final = 56
_CELL: Final = 8
_LONGEST: Final = 60
"""Maximum number of characters of a label."""
_ABSTAINS: Final = "#dddddd"
_NOTHING: Final = "abstains"


@dataclass(frozen=True, slots=True)
class _Box:
    """A node of the drawn tree."""

    x: int
    y: int
    width: int
    text: str
    color: str


@dataclass(frozen=True, slots=True)
class _Line:
    """An edge between two nodes, with the label `yes` or `no`."""

    x1: int
    y1: int
    x2: int
    y2: int
    label: str


def emit_tree(heuristic: ReadHeuristic, templates: TemplateSet) -> OutputFile:
    """Return the drawing of a tree, from left to right."""
    colors = _colors(heuristic)
    widths: dict[int, int] = {}
    for level, part in _levels(heuristic.tree, 0):
        widths[level] = max(widths.get(level, 0), _width(_label(part, heuristic.choices)))
    lefts = [10 + sum(widths[before] + _GAP for before in range(level)) for level in widths]
    boxes, lines = list[_Box](), list[_Line]()
    _place(heuristic, heuristic.tree, 0, 0, lefts, colors, boxes, lines)
    values: Mapping[str, object] = {
        "title": html.escape(f"{heuristic.name}: {heuristic.decision}"),
        "width": lefts[-1] + widths[len(widths) - 1] + 10,
        "height": 30 + _ROW * sum(isinstance(part, Leaf) for part in walk(heuristic.tree)),
        "boxes": boxes,
        "lines": lines,
    }
    return OutputFile(f"{heuristic.name}.tree.svg", templates.render("tree.svg", values))


def _levels(tree: Tree, level: int) -> Iterator[tuple[int, Tree]]:
    yield level, tree
    if isinstance(tree, Split):
        yield from _levels(tree.then, level + 1)
        yield from _levels(tree.otherwise, level + 1)


def _place(
    heuristic: ReadHeuristic,
    tree: Tree,
    level: int,
    row: int,
    lefts: Sequence[int],
    colors: Mapping[str, str],
    boxes: list[_Box],
    lines: list[_Line],
) -> tuple[int, int]:
    """Add the boxes and lines of a tree from `row` on; return the middle of its root, and the next row."""
    text = _label(tree, heuristic.choices)
    x, width = lefts[level], _width(text)
    if isinstance(tree, Leaf):
        middle, row, color = 30 + _ROW * row + _BOX // 2, row + 1, colors[_choice(tree, heuristic.choices)]
    else:
        middles = []
        for part in (tree.then, tree.otherwise):
            middle, row = _place(heuristic, part, level + 1, row, lefts, colors, boxes, lines)
            middles.append(middle)
        middle, color = sum(middles) // 2, "#ffffff"
        for end, label in zip(middles, ("yes", "no"), strict=True):
            lines.append(_Line(x + width, middle, lefts[level + 1], end, label))
    boxes.append(_Box(x, middle - _BOX // 2, width, html.escape(text), color))
    return middle, row


def _width(text: str) -> int:
    return len(text) * _CHARACTER + 12


def _label(tree: Tree, choices: Sequence[str]) -> str:
    if isinstance(tree, Split):
        return _cut(str(tree.condition))
    more = f" and {len(tree.ranked) - 1} more" if len(tree.ranked) > 1 else ""
    share = f" {tree.ranked[0][0]:.0%}" if tree.ranked else ""
    return f"{_cut(_choice(tree, choices))}{share}{more}"


def _cut(text: str) -> str:
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _choice(leaf: Leaf, choices: Sequence[str]) -> str:
    return choices[leaf.ranked[0][1]] if leaf.ranked else _NOTHING


def _colors(heuristic: ReadHeuristic) -> Mapping[str, str]:
    """Return a color for each choice in the tree."""
    leaves = (part for part in walk(heuristic.tree) if isinstance(part, Leaf) and part.ranked)
    names = sorted({_choice(leaf, heuristic.choices) for leaf in leaves})
    return {**{name: _color(at, len(names)) for at, name in enumerate(names)}, _NOTHING: _ABSTAINS}


def _color(at: int, count: int) -> str:
    red, green, blue = colorsys.hls_to_rgb(at / count, 0.72 if at % 2 else 0.82, 0.65)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


def emit_map(heuristic: ReadHeuristic, drawn: ChoicesMap, templates: TemplateSet) -> OutputFile:
    """Return the drawing of the choices over two features, with a legend."""
    colors = _colors(heuristic)
    used = sorted({_choice(leaf, heuristic.choices) for row in drawn.rows for leaf in row})
    fixed = ", ".join(
        f"{name} = {value:g}" if not isinstance(value, str) else f"{name} = {value}" for name, value in drawn.fixed
    )
    values: Mapping[str, object] = {
        "title": html.escape(f"{heuristic.name}: {heuristic.decision}"),
        "fixed": html.escape(fixed),
        "cells": list(_rectangles(drawn, heuristic.choices, colors)),
        "legend": [
            {"y": 40 + 22 * at, "color": colors[name], "text": html.escape(_cut(name))} for at, name in enumerate(used)
        ],
        "across": _axis_values(drawn.across),
        "up": _axis_values(drawn.up),
        "side": CELLS * _CELL,
        "width": CELLS * _CELL + 130 + max(_width(_cut(name)) for name in used),
        "height": max(CELLS * _CELL + 90, 60 + 22 * len(used)),
    }
    return OutputFile(f"{heuristic.name}.choices.svg", templates.render("choices.svg", values))


def _axis_values(axis: Axis) -> Mapping[str, object]:
    places = (0.0, 0.25, 0.5, 0.75, 1.0)
    ticks = [
        {
            "at": round(share * CELLS * _CELL),
            "back": round((1 - share) * CELLS * _CELL),
            "text": f"{axis.value(share):g}",
        }
        for share in places
    ]
    return {"name": html.escape(axis.name), "ticks": ticks}


def _rectangles(drawn: ChoicesMap, choices: Sequence[str], colors: Mapping[str, str]) -> Iterator[Mapping[str, object]]:
    """Yield the cells of each row, with equal neighbors merged."""
    for row, leaves in enumerate(drawn.rows):
        column = 0
        for name, run in groupby(_choice(leaf, choices) for leaf in leaves):
            length = len(list(run))
            y = (CELLS - 1 - row) * _CELL
            yield {"x": column * _CELL, "y": y, "width": length * _CELL, "height": _CELL, "color": colors[name]}
            column += length
