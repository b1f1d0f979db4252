"""What the unit tests share."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from opgen.output.template import TemplateSet


@pytest.fixture(scope="session")
def registered_schemas() -> list[str]:
    """The schemas that torch itself registers, as it prints them: none of the operators that tests register."""
    pytest.importorskip("torch")
    program = "import torch\nfor schema in torch._C._jit_get_all_schemas(): print(schema)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, encoding="utf-8", check=True)
    return done.stdout.splitlines()


@pytest.fixture
def templates(request: pytest.FixtureRequest, tmp_path: Path, repository: Path) -> TemplateSet:
    """The templates that the test's module asks for with `TEMPLATES`.

    `TEMPLATES` is a folder of `templates/`, or the texts of templates small enough to read, by file name.
    """
    wanted: str | Mapping[str, str] = request.module.TEMPLATES
    if isinstance(wanted, str):
        return TemplateSet(repository / "templates" / wanted)
    for name, text in wanted.items():
        (tmp_path / name).write_text(text)
    return TemplateSet(tmp_path)
