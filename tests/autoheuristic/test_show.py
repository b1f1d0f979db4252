"""Heuristics → drawings: they are XML, say what the tree says, and color what the heuristic decides."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import pytest

from opgen.autoheuristic.choices_map import CELLS, Axis, compute_map, numeric_features, typical_values
from opgen.autoheuristic.reading import read_heuristics
from opgen.autoheuristic.torch_operations import compute
from opgen.autoheuristic.tree import Leaf, Split, find_leaf, walk
from opgen.diagnostics import Diagnostics
from opgen.frontend.nodes import read_source
from opgen.run.spine import run
from tests.autoheuristic import shipped
from tests.autoheuristic.trained import COMMAND, decide, load, log_text, toy_rows, train

SVG: Final = "{http://www.w3.org/2000/svg}"


def _draw(file: Path, out: Path, *flags: str) -> tuple[ET.Element, ET.Element]:
    assert run(COMMAND, ["show", str(file), "--output-dir", str(out), "-q", *flags]) == 0
    tree, choices = sorted(out.iterdir(), key=lambda path: path.name.endswith("choices.svg"))
    return ET.parse(tree).getroot(), ET.parse(choices).getroot()


def _texts(element: ET.Element) -> list[str]:
    return [text.text or "" for text in element.iter(f"{SVG}text")]


def test_the_map_has_the_colors_of_the_decisions(tmp_path: Path) -> None:
    heuristic = load(train(tmp_path, log_text(toy_rows()), "--combine", "m*n"))
    ranges = ["--range", "m=0:1024", "--range", "n=0:1024", "--over", "m", "n"]
    tree, choices = _draw(tmp_path / "out" / "_Toy.py", tmp_path / "drawn", *ranges)
    assert any(text.startswith("m * n ≤ ") for text in _texts(tree))
    assert "dtype = torch.float32" in _texts(choices)
    legend = choices.findall(f"{SVG}g")[1]
    names = dict(zip([r.get("fill") for r in legend.iter(f"{SVG}rect")], _texts(legend), strict=True))
    checked = 0
    for cell in list(choices.findall(f"{SVG}g")[0].iter(f"{SVG}rect"))[:-1]:
        x, y, width = (int(cell.get(key, "")) for key in ("x", "y", "width"))
        for column in range(x // 8, (x + width) // 8):
            m, n = round((column + 0.5) * 1024 / CELLS), round((CELLS - y / 8 - 0.5) * 1024 / CELLS)
            decision = decide(heuristic, m=m, n=n, dtype="torch.float32") or "abstains"
            assert names[cell.get("fill")] == decision
            checked += 1
    assert checked == CELLS * CELLS


@pytest.mark.parametrize("name", shipped.SHIPPED)
def test_heuristics_that_torch_ships_are_read_as_they_decide(name: str) -> None:
    theirs = shipped.load(name)
    module = importlib.import_module(type(theirs).__module__)
    log = Diagnostics()
    (heuristic,) = read_heuristics(read_source(Path(str(module.__file__))), log)
    assert not log.has_errors
    assert (heuristic.name, heuristic.decision) == (name, theirs.get_name())
    assert list(heuristic.choices) == theirs.choices
    for context in shipped.contexts(heuristic.decision, 200, seed=3):
        values: dict[str, Any] = dict(shipped.augmented(heuristic.decision, context).context_dict)
        assert list(find_leaf(heuristic.tree, values).ranked) == (theirs.get_best_choices(context) or [])


@pytest.mark.parametrize("name", ["MMRankingA100", "PadMMH200"])
def test_what_torch_computes_follows_the_axes(name: str) -> None:
    """The features that torch computes of others are not fixed while the others vary."""
    module = importlib.import_module(f"torch._inductor.autoheuristic.artifacts._{name}")
    (heuristic,) = read_heuristics(read_source(Path(str(module.__file__))), Diagnostics())
    assert {"m", "n", "k"} <= set(numeric_features(heuristic))
    missing = {"mat1_dtype": "torch.float16", "m": 1024, "k": 1024, "n": 1024}
    padding = {f"{size}_padded_length": 3 for size in "mkn"}
    strides = {f"mat{matrix}_stride_{at}": 1024 if at == 0 else 1 for matrix in (1, 2) for at in (0, 1)}
    given: dict[str, Any] = {**missing, **padding, **strides}
    drawn = compute_map(
        heuristic, Axis("m", 1, 8192), Axis("n", 1, 8192), given, lambda values: compute(heuristic.decision, values)
    )
    assert "arith_intensity" not in dict(drawn.fixed)
    leaves = {leaf for row in drawn.rows for leaf in row}
    assert len(leaves) > 2


def test_typical_values_are_enough_for_any_branch(tmp_path: Path) -> None:
    for name in shipped.SHIPPED:
        module = importlib.import_module(f"torch._inductor.autoheuristic.artifacts._{name}")
        (heuristic,) = read_heuristics(read_source(Path(str(module.__file__))), Diagnostics())
        values = typical_values(heuristic)
        for part in walk(heuristic.tree):
            if isinstance(part, Split):
                assert isinstance(find_leaf(part, values), Leaf)


def test_drawings_are_xml_whatever_the_names_are(tmp_path: Path) -> None:
    times = {(m, choice): 2 if (m > 5) == (choice == "a<b") else 1 for m in range(12) for choice in ("a<b", '"""&"""')}
    rows = [f"{m},{n},<&>,{choice},{time}" for (m, choice), time in times.items() for n in range(3)]
    train(tmp_path, log_text(rows, name="a<b>&"), "--combine", "m%3")
    tree, choices = _draw(tmp_path / "out" / "_Toy.py", tmp_path / "drawn", "--over", "m", "n")
    assert "Toy: a<b>&" in _texts(tree)
    assert "a<b" in _texts(choices)
    assert "dtype = <&>" in _texts(choices)
