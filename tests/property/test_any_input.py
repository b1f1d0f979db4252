"""Whatever is in the files, the generator gives diagnostics or output: never a traceback, never half of it."""

from __future__ import annotations

import contextlib
import io
import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from opgen import gen
from tests.property.strategies import (
    ENTRIES,
    GOLDEN,
    SEEDS,
    SHARED_DEFINITIONS,
    VALUES,
    mutated_texts,
    operators_in,
    repeatable,
)


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of definitions and templates to change."""
    return Path(shutil.copytree(GOLDEN / "shared" / "ops", tmp_path_factory.mktemp("any") / "ops"))


def run(ops: Path, *flags: str) -> int:
    """Runs the generator; what it says must be a report, and nothing may be left behind by a run that fails."""
    out = ops.parent / "out"
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        code = gen.main(["--source-path", str(ops), "--install-dir", str(out), "--dry-run", *flags])
    assert code in (0, 1), stderr.getvalue()
    assert not out.exists()
    report = stderr.getvalue()
    if code:
        assert stdout.getvalue() == ""
        count, word = report.splitlines()[-1].split()
        assert int(count) > 0
        assert word in ("error", "errors")
    assert "Traceback" not in report
    return code


def run_definitions(ops: Path, text: str) -> int:
    (ops / "native" / "native_functions.yaml").write_bytes(text.encode("utf-8", errors="surrogateescape"))
    return run(ops, "--per-operator-headers")


@given(st.text() | st.text("-: #'\"[]{}&*!|>%@`\n\t ab,?", max_size=60))
@repeatable(60)
def test_any_text(ops: Path, text: str) -> None:
    run_definitions(ops, text.encode("utf-8", errors="replace").decode())


@given(st.binary(max_size=60))
@repeatable(40)
def test_any_bytes(ops: Path, data: bytes) -> None:
    (ops / "native" / "native_functions.yaml").write_bytes(data)
    run(ops)


@given(VALUES | st.lists(ENTRIES, max_size=3))
@repeatable(60)
def test_any_yaml(ops: Path, value: object) -> None:
    run_definitions(ops, yaml.safe_dump(value, sort_keys=False))


@given(mutated_texts((SHARED_DEFINITIONS, *SEEDS)))
@repeatable(150)
def test_changed_definitions(ops: Path, text: str) -> None:
    run_definitions(ops, text)


@pytest.fixture(scope="module")
def torch_operators(torch_source: Path) -> tuple[str, ...]:
    """torch's operators, each with all of its entries."""
    return operators_in((torch_source / "native" / "native_functions.yaml").read_text(encoding="utf-8"))


@given(st.data())
@repeatable(200)
def test_changed_operators_of_torch(
    ops: Path, torch_source: Path, torch_operators: tuple[str, ...], data: st.DataObject
) -> None:
    tags = ops / "native" / "tags.yaml"
    shutil.copy(torch_source / "native" / "tags.yaml", tags)
    try:
        run_definitions(ops, data.draw(mutated_texts(torch_operators)))
    finally:
        shutil.copy(GOLDEN / "shared" / "ops" / "native" / "tags.yaml", tags)


@given(mutated_texts(((GOLDEN / "shared" / "ops" / "native" / "tags.yaml").read_text(encoding="utf-8"),)))
@repeatable(30)
def test_changed_tags(ops: Path, text: str) -> None:
    tags = ops / "native" / "tags.yaml"
    (ops / "native" / "native_functions.yaml").write_text(SHARED_DEFINITIONS, encoding="utf-8")
    try:
        tags.write_bytes(text.encode("utf-8", errors="replace"))
        run(ops, "--generate", "headers")
    finally:
        shutil.copy(GOLDEN / "shared" / "ops" / "native" / "tags.yaml", tags)


SELECTION = """\
include_all_operators: false
operators:
  aten::scale.out: {is_root_operator: true, include_all_overloads: false, debug_info: [here]}
  aten::total: {}
kernel_metadata: {kernel: [float, int]}
custom_classes: [Thing]
"""


@given(mutated_texts((SELECTION,)) | VALUES.map(yaml.safe_dump))
@repeatable(40)
@example("")
def test_any_selection(ops: Path, text: str) -> None:
    (ops / "native" / "native_functions.yaml").write_text(SHARED_DEFINITIONS, encoding="utf-8")
    selection = ops.parent / "selection.yaml"
    selection.write_bytes(text.encode("utf-8", errors="replace"))
    run(ops, "--op-selection-yaml-path", str(selection), "--generate", "sources")


@given(
    mutated_texts(
        ("// $generated_comment\n$if x\n  $Functions_declarations\n$endif\n${,a,}\n", "$for a in b\n$a\n$endfor\n$$")
    )
)
@repeatable(40)
def test_any_template(ops: Path, text: str) -> None:
    (ops / "native" / "native_functions.yaml").write_text(SHARED_DEFINITIONS, encoding="utf-8")
    template = ops / "templates" / "Functions.h"
    kept = template.read_bytes()
    try:
        template.write_bytes(text.encode("utf-8", errors="replace"))
        run(ops, "--generate", "headers")
    finally:
        template.write_bytes(kept)
