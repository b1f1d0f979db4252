"""Every kind of diagnostic is shown by a golden case, and explained in docs/diagnostics.md."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from opgen.commands._all import command_names
from tests.golden.harness import CASES

ROOT: Final = Path(__file__).resolve().parents[2]
_SHOWN: Final = re.compile(r"^(?:opgen|\S+:\d+:\d+): (?:error|warning|remark): .* \[([a-z0-9-]+)\]$", re.MULTILINE)

FIRST: Final = frozenset({"Diagnostic", "FormulaProblem", "error", "warning", "remark", "tell", "mistake", "_error"})
"""Functions whose first argument is the id."""
PLACES: Final = MappingProxyType({"SchemaError": 3, "fail": 4})
"""Functions whose id is another argument, and which."""
KINDS: Final = MappingProxyType({"OneOf": 0, "check_words": 2})
"""Functions that make the id `unknown-…` of an argument, and which."""

SHOWN_ELSEWHERE: Final = MappingProxyType(
    {
        "bad-project-name": "tests/extension/test_project.py",
        "import-load": "tests/unit/test_import.py",
        "import-missing": "tests/unit/test_import.py",
        "import-nothing": "tests/unit/test_import.py",
        "import-several": "tests/unit/test_import.py",
        "import-unread": "tests/unit/test_import.py",
        "import-unreadable": "tests/unit/test_import.py",
        "mlx-definitions": "tests/unit/test_check_diff.py",
        "mlx-missing": "tests/unit/test_nanobind.py",
        "nanobind-mismatch": "tests/unit/test_nanobind.py",
        "nanobind-missing": "tests/unit/test_nanobind.py",
        "nanobind-unknown": "tests/unit/test_nanobind.py",
        "operators-of-opgen": "tests/faults/test_rows.py",
        "out-of-memory": "tests/faults/test_files.py",
        "output-not-encodable": "tests/unit/test_output_writer.py",
        "output-outside-root": "tests/unit/test_output_writer.py",
        "project-exists": "tests/extension/test_project.py",
        "scikit-learn-missing": "tests/autoheuristic/test_training.py",
        "pygls-missing": "tests/unit/test_lsp.py",
        "shtab-missing": "tests/unit/test_command_line.py",
        "stale-file": "tests/unit/test_formats.py",
        "torch-missing": "tests/conformance/test_mobile_upgraders.py",
        "unusable-file": "tests/faults/test_files.py",
        "unknown-revision": "tests/unit/test_check_diff.py",
        "unknown-pattern": "tests/conformance/test_fuse.py",
        "upgrader-unreadable": "tests/conformance/test_mobile_upgraders.py",
    }
)
"""What no run of the command can show, and the test that does."""


def _ids(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            yield from _ids_of_call(node, name)


def _ids_of_call(call: ast.Call, name: str) -> Iterator[str]:
    at = 0 if name in FIRST else PLACES.get(name)
    if at is not None:
        named = next((k.value for k in call.keywords if k.arg == "id"), None)
        word = _word(named if named is not None else call.args[at] if at < len(call.args) else None)
        if re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", word):
            yield word
    if name in KINDS:
        word = _word(call.args[KINDS[name]])
        if word:
            yield f"unknown-{word.replace(' ', '-')}"


def _word(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _reached(modules: Iterable[str]) -> set[Path]:
    """The files of these modules, and of those that they import."""
    found: set[Path] = set()
    waiting = list(modules)
    while waiting:
        path = ROOT / f"{waiting.pop().replace('.', '/')}.py"
        if path in found or not path.is_file():
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                waiting += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Constant) and str(node.value).startswith("opgen."):
                waiting.append(str(node.value))  # of a module that is imported when it is needed
    return found


@pytest.fixture(scope="module")
def ids_in_source() -> Mapping[str, str]:
    """All ids of what the commands run, and a file that has each."""
    found: dict[str, str] = {}
    commands = (f"opgen.commands.{name}" for name in command_names())
    for path in sorted(_reached((*commands, "opgen.run.spine"))):
        for id in _ids(ast.parse(path.read_text(encoding="utf-8"))):
            found.setdefault(id, path.relative_to(ROOT).as_posix())
    return found


def ids_shown() -> set[str]:
    """The ids that golden cases show."""
    return {id for path in CASES.glob("*/stderr") for id in _SHOWN.findall(path.read_text(encoding="utf-8"))}


def test_ids_are_found(ids_in_source: Mapping[str, str]) -> None:
    assert {"unknown-key", "schema-syntax", "unknown-variant", "template-unknown-variable"} <= ids_in_source.keys()


def test_every_id_has_a_case(ids_in_source: Mapping[str, str]) -> None:
    shown = ids_shown() | SHOWN_ELSEWHERE.keys()
    lacking = {id: file for id, file in ids_in_source.items() if id not in shown}
    assert not lacking, "add a case below tests/golden/cases for each of these"


@pytest.mark.parametrize(("id", "file"), SHOWN_ELSEWHERE.items())
def test_what_is_shown_elsewhere_is(id: str, file: str) -> None:
    assert id in (ROOT / file).read_text(encoding="utf-8")


def test_every_id_is_explained(ids_in_source: Mapping[str, str]) -> None:
    text = (ROOT / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `([a-z0-9-]+)` \|", text, re.MULTILINE)
    assert explained == sorted(set(explained)), "one row an id, in order"
    assert set(explained) >= ids_in_source.keys(), "explain these in docs/diagnostics.md"
    assert set(explained) <= ids_in_source.keys(), "these are gone: remove their rows"
