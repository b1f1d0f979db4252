"""Kept headers of shims are held against the operators: those of all devices in one run, and nothing is touched.

The commands of docs/aoti-shims.md that do so are run here.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from opgen.check_aoti_c_shim import main

CASE = Path(__file__).resolve().parents[1] / "golden" / "cases" / "check-shims"


@pytest.fixture
def flags(tmp_path: Path) -> list[str]:
    """The command line that finds nothing wrong with the folder `kept`."""
    shutil.copytree(CASE / "aoti", tmp_path / "kept")
    shutil.copytree(CASE / "ops", tmp_path / "ops")
    shutil.copy(CASE.parents[1] / "shared" / "ops" / "native" / "tags.yaml", tmp_path / "ops" / "native")
    return [
        str(tmp_path / "kept"),
        "--source-path",
        str(tmp_path / "ops"),
        "--aoti-fallback-ops",
        str(CASE / "shims.yaml"),
    ]


def test_headers_that_say_the_same(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(flags) == 0
    assert capsys.readouterr().out.startswith("5 headers in")
    assert main([*flags, "--quiet"]) == 0
    assert capsys.readouterr().out == ""


def test_all_headers_that_differ_are_shown(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "kept"
    cpu, xpu = kept / "c_shim_cpu.h", kept / "c_shim_xpu.h"
    cpu.write_text(cpu.read_text(encoding="utf-8").replace("double by", "double by, int64_t more"), encoding="utf-8")
    xpu.write_text(xpu.read_text(encoding="utf-8") + "int aoti_extra();\n", encoding="utf-8")
    (kept / "c_shim_mps.h").unlink()
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    assert main([*flags, "--quiet"]) == 1
    out = capsys.readouterr().out
    assert f"--- {cpu} (on the disk)\n+++ {cpu} (generated)\n@@ " in out
    assert "double by, int64_t more);\n+AOTI_TORCH_EXPORT" in out
    assert "\n-int aoti_extra();\n" in out
    assert f"--- {kept / 'c_shim_mps.h'} (not on the disk)" in out
    assert out.endswith("3 of 5 headers differ; --update-aoti-c-shim writes them\n")
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before


def test_mistakes_and_headers_that_cannot_be_read(
    flags: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kept" / "c_shim_cpu.h").write_bytes(b"\xff")
    assert main(flags) == 1
    assert "[unreadable-file]" in capsys.readouterr().err
    assert main([flags[0], "--source-path", str(tmp_path / "nowhere")]) == 1
    assert "[missing-file]" in capsys.readouterr().err
