"""The JSON Schemas of YAML files, held against the golden cases: what opgen reads is valid."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from jsonschema import Draft7Validator

from opgen.backend import backend_yaml
from opgen.desk.json_schema import KINDS, json_schema
from opgen.frontend import derivative_entries, entry_fields, selection, tags
from opgen.mlx import definitions as mlx
from opgen.model import NativeFunction

CASES: Final = Path(__file__).parents[1] / "golden" / "cases"
FILES: Final = (
    ("native_functions", "ops/native/native_functions.yaml"),
    ("derivatives", "ops/autograd/derivatives.yaml"),
    ("tags", "ops/native/tags.yaml"),
    ("selection", "selection.yaml"),
    ("backend", "backend.yaml"),
    ("mlx", "ops/mlx_ops.yaml"),
)
SHAPE_IDS: Final = frozenset({"unknown-key", "missing-key", "bad-boolean", "unknown-variant", "unknown-device-check"})
"""Mistakes that show without knowing other entries."""


def _load(path: Path) -> Any:
    return yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)


def _problems(kind: str, data: object) -> list[str]:
    return [f"{list(e.absolute_path)}: {e.message[:200]}" for e in Draft7Validator(json_schema(kind)).iter_errors(data)]


NULL_KERNEL: Final = "text-stays-text"
"""Has a kernel called `null`, which opgen reads as text and an editor as no value."""


def _files(*, with_mistakes: bool) -> Iterator[tuple[str, Path]]:
    for case in sorted(CASES.iterdir()):
        if (case / "exit_code").exists() is with_mistakes and case.name != NULL_KERNEL:
            yield from ((kind, case / name) for kind, name in FILES if (case / name).is_file())


@pytest.mark.parametrize("kind", KINDS)
def test_schemas_are_schemas(kind: str) -> None:
    Draft7Validator.check_schema(json_schema(kind, {"core": "One of the core operators."}))


def test_what_opgen_reads_is_valid() -> None:
    files = list(_files(with_mistakes=False))
    assert len(files) > 30
    assert {str(path): found for kind, path in files if (found := _problems(kind, _load(path)))} == {}


def test_the_examples_are_valid() -> None:
    examples = Path(__file__).parents[2] / "examples"
    for kind, name in (
        ("native_functions", "rational/ops/native/native_functions.yaml"),
        ("derivatives", "rational/ops/autograd/derivatives.yaml"),
        ("native_functions", "device/ops/native/native_functions.yaml"),
        ("backend", "backend/backend.yaml"),
        ("mlx", "mlx/ops/mlx_ops.yaml"),
    ):
        assert _problems(kind, _load(examples / name)) == []


def test_torchs_own_files_are_valid(torch_source: Path) -> None:
    for kind, name in (
        ("native_functions", "native/native_functions.yaml"),
        ("tags", "native/tags.yaml"),
        ("derivatives", "../autograd/derivatives.yaml"),
    ):
        assert _problems(kind, _load(torch_source / name)) == []


def test_mistakes_of_shape_are_found() -> None:
    """Where a case has such a mistake in a file, the schema refuses the file."""
    seen = 0
    for kind, path in _files(with_mistakes=True):
        name = path.relative_to(CASES).as_posix().partition("/")[2]
        if not (path.parents[len(Path(name).parts) - 1] / "stderr").exists():
            continue  # a case of another format
        stderr = (path.parents[len(Path(name).parts) - 1] / "stderr").read_text(encoding="utf-8")
        shown = set(re.findall(rf"^{re.escape(name)}:\d+:\d+: error: .* \[([a-z-]+)\]$", stderr, re.MULTILINE))
        if kind != "derivatives" and shown & SHAPE_IDS:
            assert _problems(kind, _load(path)), path
            seen += 1
    assert seen >= 5


def test_tags_and_keys_are_enumerated() -> None:
    schema = json_schema("native_functions", {"core": "One of the core operators."})
    entry = {"func": "f(Tensor self) -> Tensor"}
    validator = Draft7Validator(schema)
    for tag_list in ("core", ["core"], "core, core"):
        assert validator.is_valid([{**entry, "tags": tag_list}])
    assert not validator.is_valid([{**entry, "tags": ["cor"]}])
    assert validator.is_valid([{**entry, "dispatch": {"CPU, CUDA": "f", "PrivateUse1": "mine::native::f"}}])
    assert not validator.is_valid([{**entry, "dispatch": {"CPU, CUDDA": "f"}}])


def test_devices_and_dtypes_of_mlx_are_enumerated() -> None:
    validator = Draft7Validator(json_schema("mlx"))
    entry = {"name": "f", "signature": "array f(const array& x)"}
    assert validator.is_valid([{**entry, "dispatch": {"cpu": "f_cpu"}, "dtypes": ["float32"], "shape": "same"}])
    for wrong in ({"dispatch": {"gpu": "f"}}, {"dtypes": ["float31"]}, {"vmap": "lead"}, {"shapes": "same"}):
        assert not validator.is_valid([{**entry, **wrong}]), wrong


def test_every_key_has_a_description() -> None:
    tables = (
        *(entry_fields.TABLE, tags.TABLE, backend_yaml.TABLE, backend_yaml.NODE_TABLE),
        *(selection.TABLE, selection.OPERATOR_TABLE, mlx.TABLE),
    )
    texts = [field.description for table in tables for field in table.fields.values()]
    assert [text for text in (*texts, *derivative_entries.DESCRIPTIONS.values()) if not text.endswith(".")] == []


def test_every_key_of_an_entry_sets_an_attribute() -> None:
    combined = {"func", "dispatch", "precomputed", "ufunc_inner_loop", "tags"}
    single = {field.name: field.attribute for field in entry_fields.TABLE.fields.values() if field.attribute}
    assert entry_fields.TABLE.fields.keys() == {*single, *combined, "random"}  # `random` is for a rule alone
    assert {*single.values(), *combined} - {"dispatch"} <= {each.name for each in fields(NativeFunction)}
