"""Schemas that libraries register, as the dispatcher has them: each prints as torch prints it, and code is generated.

`library_schemas.txt` has those of torchvision, torchcodec, torchao, vLLM and FBGEMM.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

import pytest

from opgen.commands._extension import extension_templates, generate_extension, load_extension
from opgen.diagnostics import Diagnostics
from opgen.extension.extension import ExtensionOptions
from opgen.schema.registered import parse_registered, torch_text

SCHEMAS = Path(__file__).with_name("library_schemas.txt").read_text(encoding="utf-8").splitlines()
LIBRARIES = {name: list(found) for name, found in groupby(SCHEMAS, key=lambda schema: schema.partition("::")[0])}


def test_schemas_print_as_torch_prints_them() -> None:
    torch = pytest.importorskip("torch")
    for schema in SCHEMAS:
        space, _, text = schema.partition("::")
        assert f"{space}::{torch_text(parse_registered(text))}" == str(torch._C.parse_schema(schema))


@pytest.mark.parametrize("library", LIBRARIES)
def test_code_is_generated(library: str, tmp_path: Path) -> None:
    path = tmp_path / "native" / "native_functions.yaml"
    path.parent.mkdir()
    entries = [f'- func: "{s}"' if '"' not in s else f"- func: {s}" for s in LIBRARIES[library]]
    path.write_text("".join(f"{entry}\n  dispatch:\n    CPU, Meta: k{at}\n" for at, entry in enumerate(entries)))
    log = Diagnostics()
    extension = load_extension(tmp_path, ExtensionOptions(), log)
    assert extension is not None, log.render()
    files = {file.path: file.text for file in generate_extension(extension, extension_templates())}
    assert files["RegisterSchema.cpp"].count("m.def(") == len(LIBRARIES[library])
