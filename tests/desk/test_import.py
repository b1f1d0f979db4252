"""`opgen import` of a library that others have written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.fetch import TORCHAO, resource


def test_from_a_real_library(tmp_path: Path) -> None:
    """torchao's operators, of its Python package, as the dispatcher has them; then the code made of them."""
    environment = {**os.environ, "PYTHONPATH": os.fspath(resource(TORCHAO))}
    folder, out = os.fspath(tmp_path / "ops"), os.fspath(tmp_path / "out")
    command = [sys.executable, "-m", "opgen"]
    subprocess.run(
        [*command, "import", "--from-ops", "torchao", "--load", "torchao", "-d", folder, "-q"],
        env=environment,
        check=True,
    )
    text = (tmp_path / "ops" / "native" / "native_functions.yaml").read_text()
    assert text.count("- func: torchao::") > 10
    subprocess.run([*command, "gen", "-s", folder, "-d", out, "-q"], check=True)
    schemas = (tmp_path / "out" / "RegisterSchema.cpp").read_text()
    assert schemas.count("m.def(") == text.count("- func: ")
