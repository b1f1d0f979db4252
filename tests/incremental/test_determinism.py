"""The same bytes for any hash seed, locale, time zone, number of processes, name of the folder and Python."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from opgen.output.manifest import NAME as MANIFEST
from tests.packaged.test_wheel import INTERPRETERS

VARIANTS = (
    # hash seed, locale, processes, folder of definitions
    ("0", "C", "1", "defs"),
    ("1", "C.UTF-8", "2", "other definitions"),
    ("2", "POSIX", "4", "déf"),
    ("12345", "en_US.ISO-8859-1", "2", "defs"),
    ("4294967295", "C", "1", "a/b/c"),
)


@pytest.fixture(scope="module")
def edge(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few operators that use all of the language, with our templates."""
    folder = tmp_path_factory.mktemp("edge") / "defs"
    shutil.copytree(repository / "tests/conformance/definitions/edge", folder)
    shutil.copy(repository / "opgen/packaged/ATen/native/tags.yaml", folder / "native")
    shutil.copytree(repository / "templates/ATen", folder / "templates")
    return folder


@pytest.fixture(scope="module")
def pure_yaml(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PyYAML without what is compiled for this Python."""
    folder = tmp_path_factory.mktemp("yaml")
    shutil.copytree(Path(yaml.__file__).parent, folder / "yaml", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    return folder


def written(
    source: Path, here: Path, variant: tuple[str, str, str, str], *paths: Path, python: Path = Path(sys.executable)
) -> Mapping[str, str]:
    """Digests of what a run writes, by names."""
    seed, locale, jobs, name = variant
    shutil.copytree(source, here / name)
    keep = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "LC_", "LANG"))}
    path = os.pathsep.join(map(str, paths))
    environment = {**keep, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONPATH": path, "PYTHONCOERCECLOCALE": "0"}
    environment["TZ"] = "Asia/Tokyo" if jobs == "4" else "UTC"
    flags = ["--per-operator-headers", "--aoti-install-dir", "shims", "--jobs", jobs, "--quiet"]
    flags += ["--mps", "--xpu", "--mtia", "--update-aoti-c-shim"]
    flags += ["--torch-version", "2.13"]  # not every Python here has torch
    command: list[str | Path] = [python, "-X", "utf8=0", "-m", "tests.forking", "gen", "-s", name, "-d", "out", *flags]
    done = subprocess.run(command, cwd=here, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return {
        file.relative_to(here).as_posix(): hashlib.sha256(file.read_bytes()).hexdigest()
        for folder in ("out", "shims")
        for file in (here / folder).rglob("*")
        if file.is_file() and file.name != MANIFEST
    }


@pytest.fixture(scope="module")
def expected(edge: Path, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    return written(edge, tmp_path_factory.mktemp("first"), VARIANTS[0], repository)


@pytest.mark.parametrize("variant", VARIANTS[1:], ids=" ".join)
def test_surroundings(
    edge: Path, repository: Path, tmp_path: Path, expected: Mapping[str, str], variant: tuple[str, str, str, str]
) -> None:
    assert len(expected) > 300
    assert written(edge, tmp_path, variant, repository) == expected


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_other_pythons(
    edge: Path, repository: Path, pure_yaml: Path, tmp_path: Path, expected: Mapping[str, str], version: str
) -> None:
    python = INTERPRETERS.get(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    assert written(edge, tmp_path, VARIANTS[1], repository, pure_yaml, python=python) == expected


@pytest.mark.skipif(importlib.util.find_spec("torchgen") is None, reason="needs torch's definitions")
def test_all_operators_of_torch(repository: Path, pure_yaml: Path, tmp_path: Path) -> None:
    """Once as here, once with all that can be otherwise."""
    spec = importlib.util.find_spec("torchgen")
    assert spec is not None
    assert spec.submodule_search_locations
    source = Path(spec.submodule_search_locations[0]) / "packaged" / "ATen"
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    other = INTERPRETERS.get("3.13", Path(sys.executable))
    one = written(source, tmp_path / "one", VARIANTS[0], repository)
    assert len(one) > 7000
    assert written(source, tmp_path / "two", VARIANTS[2], repository, pure_yaml, python=other) == one
