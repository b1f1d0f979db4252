"""The reference of the language can be believed: its examples load, and their C++ is what is generated.

A block of YAML in docs/definitions.md is a whole file: of definitions, or of what its first line names.
Lines of C++ that follow it are somewhere in its outputs, one line each, white space aside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from opgen.api import cpp
from opgen.api.types import UnsupportedTypeError
from opgen.diagnostics import Diagnostics, Source
from opgen.dispatch_keys import BACKEND_COMPONENTS, FUNCTIONALITY_KEYS, TORCH_DISPATCH_KEYS
from opgen.frontend import entry_fields, selection
from opgen.frontend.native_functions import load_program
from opgen.frontend.selection import load_selection
from opgen.frontend.tags import load_tags
from opgen.gen import generate
from opgen.model import DTYPE_CLASSES, Argument, DeviceCheckType, Return, ScalarType, Type, UfuncKey, Variant
from opgen.output.template import TemplateSet
from opgen.program.program import Options, Program
from opgen.schema.types import BaseTy

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "definitions.md"
TAGS = ROOT / "opgen" / "packaged" / "ATen" / "native" / "tags.yaml"
TEXT = REFERENCE.read_text(encoding="utf-8")

_BLOCK = re.compile(r"^```(\w+)\n(?:# (\w+)\.yaml\n)?(.*?)^```$", re.M | re.S)
_CELL = re.compile(r"`([^`]*)`|\N{EN DASH}")


@dataclass(frozen=True)
class Example:
    """A block of YAML, and the C++ that follows it."""

    kind: str
    source: Source
    cpp: tuple[str, ...]

    def __str__(self) -> str:
        return self.source.name


def _examples() -> Iterator[Example]:
    blocks = [(found.group(1), found.group(2) or "definitions", found) for found in _BLOCK.finditer(TEXT)]
    for index, (language, kind, found) in enumerate(blocks):
        if language == "yaml":
            line = TEXT.count("\n", 0, found.start()) + 2
            following = blocks[index + 1 : index + 2]
            shown = [block.group(3) for language, _, block in following if language == "cpp"]
            source = Source(f"{REFERENCE.name}:{line}", found.group(3))
            yield Example(kind, source, tuple(line for text in shown for line in text.splitlines()))


def _of_kind(kind: str) -> list[Example]:
    return [example for example in _examples() if example.kind == kind]


def _load(example: Example) -> Program:
    log = Diagnostics()
    is_extension = "\n  doc:" in example.source.text
    program = load_program(example.source, TAGS, log, is_extension=is_extension)
    assert program is not None, log.render()
    assert not log.render()
    return program


def _without_space(text: str) -> str:
    return "".join(text.split())


# --------------------------------------------------------------------------- examples


@pytest.mark.parametrize("example", _of_kind("definitions"), ids=str)
def test_definitions_load_without_a_word(example: Example) -> None:
    _load(example)


@pytest.mark.parametrize("example", [e for e in _of_kind("definitions") if e.cpp], ids=str)
def test_what_is_shown_is_generated(example: Example, torch_source: Path) -> None:
    options = Options(torch_source, Path("out"), dispatch_keys=TORCH_DISPATCH_KEYS, per_operator_headers=True)
    files = generate(_load(example), options, TemplateSet(torch_source / "templates"))
    written = _without_space("".join(file.text for file in files))
    missing = [line for line in example.cpp if _without_space(line.removesuffix("…")) not in written]
    assert not missing, "\n".join(missing)


def test_tags_load() -> None:
    (example,) = _of_kind("tags")
    log = Diagnostics()
    assert load_tags(example.source, log)
    assert not log.render()


def test_the_selection_has_every_key() -> None:
    (example,) = _of_kind("selection")
    log = Diagnostics()
    assert load_selection(example.source, log) is not None, log.render()
    keys = {*selection.TABLE.fields, *selection.OPERATOR_TABLE.fields}
    assert keys <= set(re.findall(r"^ *(\w+):", example.source.text, re.M))


def test_no_block_is_left_out() -> None:
    assert {example.kind for example in _examples()} == {"definitions", "tags", "selection"}
    languages = [found.group(1) for found in _BLOCK.finditer(TEXT)]
    assert set(languages) == {"yaml", "cpp"}
    assert TEXT.count("```") == 2 * len(languages)


# --------------------------------------------------------------------------- completeness


def test_every_field_has_its_section() -> None:
    headings = " ".join(re.findall(r"^### (.*)$", TEXT, re.M))
    assert [name for name in entry_fields.TABLE.fields if f"`{name}`" not in headings] == []


def test_every_field_has_an_example() -> None:
    yaml = "\n".join(example.source.text for example in _of_kind("definitions"))
    assert [name for name in entry_fields.TABLE.fields if not re.search(rf"^[- ] {name}:", yaml, re.M)] == []


@pytest.mark.parametrize(
    "words",
    [
        BaseTy.__members__.keys() - {"GraphModule"},
        Variant.__members__,
        DeviceCheckType.__members__,
        UfuncKey.__members__,
        DTYPE_CLASSES,
        [name for name in ScalarType.__members__ if not name.startswith("Float8")],
        BACKEND_COMPONENTS,
        FUNCTIONALITY_KEYS[1:],
    ],
    ids=["types", "variants", "checks", "ufunc keys", "sets of dtypes", "dtypes", "devices", "functionalities"],
)
def test_every_word_is_told(words: frozenset[str]) -> None:
    assert [word for word in words if f"`{word}`" not in TEXT] == []


def test_links_lead_somewhere() -> None:
    headings = re.findall(r"^#+ (.*)$", TEXT, re.M)
    anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\]\(#([\w-]+)\)", TEXT)) <= anchors
    files = re.findall(r"\]\(([\w./-]+)\)", TEXT)
    assert [file for file in files if not (REFERENCE.parent / file).exists()] == []


# --------------------------------------------------------------------------- tables


def _rows(columns: str) -> list[list[str | None]]:
    """The rows of all tables that begin with these columns; a cell that isn't code is None."""
    tables = re.findall(rf"^\| {re.escape(columns)}.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.M)
    lines = [line for table in tables for line in table.splitlines()]
    return [[found.group(1) for found in _CELL.finditer(line)] for line in lines]


def test_types_are_spelled_so_in_cpp() -> None:
    rows = _rows("type | argument in C++ | returned in C++")
    assert len(rows) > 30
    for schema_type, argument, returned, *_ in rows:
        assert schema_type is not None
        made = cpp.argument_type(Argument.parse(f"{schema_type} x"), binds="x", symint=True).cpp_type()
        assert (schema_type, argument) == (schema_type, made)
        assert (schema_type, returned) == (schema_type, _returned(schema_type))


def _returned(schema_type: str) -> str | None:
    try:
        return cpp.return_type(Return.parse(schema_type)).cpp_type()
    except UnsupportedTypeError:
        return None


def test_defaults_are_spelled_so_in_cpp() -> None:
    rows = _rows("of type | as written | in C++")
    assert len(rows) > 10
    for row in rows:
        schema_type, written, spelled = (cell or "" for cell in row)
        made = cpp.default_expr(written, Type.parse(schema_type), symint=True)
        assert (schema_type, written, spelled) == (schema_type, written, made)


def test_sets_of_dtypes_are_right() -> None:
    sets: dict[str, set[str]] = {}
    for row in _rows("set | types"):
        name, *members = (cell or "" for cell in row)
        sets[name] = {dtype for member in members for dtype in sets.get(member, {member})}
    assert sets == {name: {str(dtype) for dtype in dtypes} for name, dtypes in DTYPE_CLASSES.items()}
