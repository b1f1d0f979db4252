"""The wheel does its work alone: without torch, without the checkout, on each Python there is.

It is built once, installed into an empty environment for each Python from 3.10 to 3.13 that can be
found, and run there from another folder.  All of them write the same bytes as the checkout does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from opgen import gen

VERSIONS: Final = ("3.10", "3.11", "3.12", "3.13")
"""The Pythons that opgen is made for."""
RUNNING: Final = f"{sys.version_info.major}.{sys.version_info.minor}"


def _candidates() -> Iterator[Path]:
    """Interpreters that may be of use: the running one, those on the path, those of pyenv."""
    yield Path(sys.executable)
    for version in VERSIONS:
        found = shutil.which(f"python{version}")
        if found is not None:
            yield Path(found)
    root = os.environ.get("PYENV_ROOT")
    yield from sorted((Path(root) if root else Path.home() / ".pyenv").glob("versions/*/bin/python"))


def _version(python: Path) -> str | None:
    """`3.12`, or None for what can't make environments."""
    ask = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=False, timeout=20)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _interpreters() -> Mapping[str, Path]:
    """One interpreter for each version that is here."""
    found: dict[str, Path] = {}
    for python in _candidates():
        version = _version(python)
        if version in VERSIONS:
            found.setdefault(version, python)
    return found


INTERPRETERS: Final = _interpreters()


def _run(command: list[str | Path], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command's outcome, in an environment that knows nothing of this one."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment = {**keep, "PYTHONDONTWRITEBYTECODE": "1", **variables}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )


def _succeed(command: list[str | Path], folder: Path) -> str:
    done = _run(command, folder)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}", pytrace=False)
    return done.stdout


@pytest.fixture(scope="session")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    options = ("--no-deps", "--quiet", "--disable-pip-version-check", "--wheel-dir", str(folder))
    _succeed([sys.executable, "-m", "pip", "wheel", *options, str(repository)], folder)
    (built,) = folder.glob("opgen-*.whl")
    return built


@pytest.fixture(scope="session", params=sorted({*INTERPRETERS, RUNNING}))
def python(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter in an environment that has the wheel and what it depends on, no more."""
    folder = tmp_path_factory.mktemp(f"python{request.param}")
    _succeed([INTERPRETERS[request.param], "-m", "venv", str(folder)], folder)
    interpreter = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    _succeed([interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)], folder)
    return interpreter


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, bytes]:
    """What the checkout writes."""
    folder = tmp_path_factory.mktemp("expected")
    assert gen.main(["--quiet", "--install-dir", str(folder)]) == 0
    return _files(folder)


def _files(folder: Path) -> Mapping[str, bytes]:
    """What was generated; the record that a run leaves for the next is another matter."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("[!.]*") if path.is_file()}


def test_the_data_is_in_the_wheel(wheel: Path, repository: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder, place in ((repository / "opgen" / "packaged", "opgen/packaged"), (repository / "templates", None)):
        for path in folder.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"{place or 'opgen/packaged/templates'}/{path.relative_to(folder).as_posix()}" in names
    assert not [name for name in names if name.startswith(("tests/", "templates/", "bench/"))]


def test_it_generates_far_from_the_checkout(python: Path, expected: Mapping[str, bytes], tmp_path: Path) -> None:
    assert _run([python, "-c", "import torch"], tmp_path).returncode != 0
    said = _succeed([python, "-m", "opgen.gen", "--install-dir", "out"], tmp_path)
    assert re.fullmatch(rf".*: {len(expected)} files, {len(expected)} changed, .* s\n", said)
    assert _files(tmp_path / "out") == expected


def test_torch_is_asked_for_if_it_is_needed(python: Path, tmp_path: Path) -> None:
    done = _run([python, "-m", "opgen.gen", "--from-torch", "--install-dir", "out"], tmp_path)
    assert done.returncode == 1
    assert "--from-torch needs an installed torch" in done.stderr
    assert f"install it: {python} -m pip install torch" in done.stderr
    assert "looked for" in done.stderr
    assert not (tmp_path / "out").exists()


def test_the_command(python: Path, tmp_path: Path) -> None:
    command = python.with_name("opgen.exe" if os.name == "nt" else "opgen")
    assert _succeed([command, "--version"], tmp_path).startswith("opgen ")
    said = _succeed([command, "gen", "-d", "out", "--generate", "declarations_yaml", "--dry-run"], tmp_path)
    assert said.startswith("out: 1 file, 1 would change")
    assert not list(tmp_path.iterdir())
