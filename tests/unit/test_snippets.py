"""Files of snippets, and how much generated text is still in Python strings."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from opgen.diagnostics import Source, UserError
from opgen.output.snippets import Snippets, snippet_files
from opgen.output.template import CodeTemplate, read_sections
from opgen.output.template_parser import parse_sections

REPOSITORY: Final = Path(__file__).resolve().parents[2]
PACKAGE: Final = REPOSITORY / "opgen"
FILES: Final = sorted(map(Path, snippet_files()))
MOST_LINES_IN_STRINGS: Final = 360


def render(section: str, text: str, **values: object) -> str:
    segments = parse_sections(Source("snippets.cpp", text))[section]
    return CodeTemplate(text, "snippets.cpp", segments).substitute(values)


def test_blank_lines_at_the_end_belong_to_no_section() -> None:
    text = "$# Snippets.\n\n$section first\n\na $x\n\nb\n\n\n$section second\nc\n"
    assert render("first", text, x=1) == "\na 1\n\nb\n"
    assert render("second", text) == "c\n"


def test_an_insertion_keeps_its_lines() -> None:
    text = "$section s\n{\n$insert lines\n}\n"
    assert render("s", text, lines="  a  \n\n  b\n") == "{\n  a  \n\n  b\n}\n"
    assert render("s", text, lines=["  a\n", "", "b\n"]) == "{\n  a\nb\n}\n"
    assert render("s", text, lines="") == "{\n}\n"


def test_mistakes_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "snippets.cpp"
    path.write_text("$section a\n$if x\n")
    with pytest.raises(UserError, match=r"snippets.cpp:2:1"):
        read_sections(path)
    path.write_text("$section a\nb\n$insert\n")
    with pytest.raises(UserError, match=r"snippets.cpp:3:1"):
        read_sections(path)


def test_a_missing_value_is_reported() -> None:
    with pytest.raises(UserError, match="unknown variable 'guard'"):
        Snippets("variable_type.cpp").render("call_in_block")


# ------------------------------------------------------------------------- sections and their users


def _modules(word: str = "") -> Iterator[tuple[Path, ast.Module]]:
    """The modules of the package that contain `word`."""
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if word in text:
            yield path, ast.parse(text)


def _file_of(tree: ast.Module) -> str | None:
    """The file of snippets that a module renders."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Snippets":
            return str(ast.literal_eval(node.args[0]))
    return None


@pytest.fixture(scope="module")
def users() -> dict[str, ast.Module]:
    """The modules that render snippets, by their files of snippets."""
    return {name: tree for _, tree in _modules("Snippets(") if (name := _file_of(tree)) is not None}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_sections_are_those_that_a_module_renders(path: Path, users: dict[str, ast.Module]) -> None:
    sections = set(read_sections(path))
    tree = users[path.name]
    rendered = {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "render"
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "_SNIPPETS"
        and isinstance(node.args[0], ast.Constant)
    }
    assert rendered <= sections
    # Other names of sections are put together, or chosen, at run time.
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    composed = [_pattern(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    unused = {name for name in sections - words if not any(pattern.fullmatch(name) for pattern in composed)}
    assert unused == set()


def _pattern(node: ast.JoinedStr) -> re.Pattern[str]:
    """What an f-string may give, as far as it gives the name of a section."""
    parts = [re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+" for part in node.values]
    return re.compile("".join(parts))


def test_every_file_has_a_user(users: dict[str, ast.Module]) -> None:
    assert {path.name for path in FILES} == set(users)


# ------------------------------------------------------------------------------- text in strings


_NAMES: Final = re.compile(r"[\w.\s]*")
"""A list of names, which is no generated text."""


def _line_breaks(node: ast.expr) -> int:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return 0 if _NAMES.fullmatch("".join(texts)) else sum(text.count("\n") for text in texts)


def lines_in_strings(tree: ast.Module) -> int:
    """The line breaks in string literals that have two or more of them; docstrings and lists of names don't count."""
    inner = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inner |= {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    literals = [node for node in ast.walk(tree) if isinstance(node, ast.Constant | ast.JoinedStr)]
    breaks = [_line_breaks(node) for node in literals if id(node) not in inner]
    return sum(count for count in breaks if count >= 2)


def test_generated_text_is_in_templates() -> None:
    found = {str(path.relative_to(REPOSITORY)): lines_in_strings(tree) for path, tree in _modules()}
    total = sum(found.values())
    longest = sorted(found.items(), key=lambda item: -item[1])[:10]
    assert total <= MOST_LINES_IN_STRINGS, f"{total} lines of text in strings; move some to snippets: {longest}"
