"""docs/how-to/wheels.md: what its blocks say holds; wheels of the stable ABI are built in test_project.py."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from opgen import __main__ as opgen
from tests.docs.blocks import read_blocks
from tests.extension.building import ROOT, run
from tests.fetch import WHEEL_TOOLS, resource

torch = pytest.importorskip("torch")

PAGE = ROOT / "docs" / "how-to" / "wheels.md"
BUILDS = [f"cp{version}-manylinux_x86_64" for version in ("310", "311", "312", "313")]


def block(beginning: str, number: int = 0) -> str:
    """Return a block of the page."""
    return [each.text for each in read_blocks(PAGE, ROOT) if each.text.startswith(beginning)][number]


def test_settings_of_the_stable_abi_are_those_of_a_new_project() -> None:
    laid_out = (ROOT / "templates" / "stable_project" / "pyproject.toml.in").read_text()
    for text in (block("[tool.scikit-build]"), block("[tool.cibuildwheel]")):
        assert text in laid_out
    commands = (ROOT / "tests" / "stable" / "test_project.py").read_text()
    for word in ("--no-build-isolation", "--no-deps", "mylib-0.1.0-cp310-abi3-{platform_name}.whl"):
        assert word in commands
    assert "mylib-0.1.0-cp310-abi3-linux_x86_64.whl" in block("$ opgen new mylib --stable-abi")


def test_wheels_of_ordinary_extensions_name_their_torch(tmp_path: Path) -> None:
    """Without the minute that it takes to compile one: setuptools packs what is there, under its name."""
    project = tmp_path / "mylib"
    assert opgen.main(["new", "mylib", "--into", str(project)]) == 0
    (project / "setup.py").write_text(block("import torch"))
    settings = (project / "pyproject.toml").read_text()
    for line in ("version", "dependencies"):
        settings, count = re.subn(rf"^{line} = .*\n", "", settings, flags=re.M)
        assert count == 1
    settings = settings.replace("[project]\n", f"[project]\n{block('dynamic')}")
    (project / "pyproject.toml").write_text(settings)
    command = [sys.executable, "setup.py", "-q", "bdist_wheel", "--skip-build", "-d", "dist"]
    run(command, project, PYTHONPATH=str(resource(WHEEL_TOOLS)))
    (wheel,) = (project / "dist").iterdir()
    release = ".".join(torch.__version__.split(".")[:2])
    version = "cp{}{}".format(*sys.version_info)
    assert wheel.name.startswith(f"mylib-0.1.0+torch{release}-{version}-{version}-")
    if (release, version, sys.platform) == ("2.13", "cp311", "linux"):
        assert wheel.name in block("$ pip wheel")
    metadata = next(project.glob("*.egg-info/requires.txt")).read_text()
    assert f"torch=={release}.*" in metadata


def test_cibuildwheel_reads_the_settings(tmp_path: Path) -> None:
    ask = ["-m", "cibuildwheel", "--print-build-identifiers", "--platform", "linux", "--archs", "x86_64"]
    for number in (0, 1):
        (tmp_path / "pyproject.toml").write_text(block("[tool.cibuildwheel]", number))
        said = run([sys.executable, *ask, "."], tmp_path, PYTHONPATH=str(resource(WHEEL_TOOLS)), TORCH="2.13.0")
        assert said.split() == BUILDS
