"""Builds extensions with CMake, each once a session, whatever the number of test processes."""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.compilers import QUICK, over_torch_headers

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"


@dataclass(frozen=True)
class Built:
    """A project that was built."""

    source: Path
    build: Path

    def library(self, name: str) -> Path:
        """The shared library."""
        return next(iter(self.build.glob(f"lib{name}.*")))

    @property
    def python(self) -> Path:
        """The folder that the Python package is in."""
        return self.build / "python"


def require_tools(*tools: str) -> None:
    """Skips the test, and says why, if anything lacks that builds need."""
    for tool in ("c++", "cmake", *tools):
        if shutil.which(tool) is None:
            pytest.skip(f"building extensions needs {tool}")
    if importlib.util.find_spec("torch") is None:
        pytest.skip("building extensions needs torch")


def run(command: Sequence[str | os.PathLike[str]], cwd: Path, **variables: str) -> str:
    """What a command says; a command that fails fails the test, with all that it said."""
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT), **variables}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}\n{done.stderr[-6000:]}", pytrace=False)
    return done.stdout


def configure(source: Path, build: Path, generator: str, **more: str) -> str:
    """Configures a project, for a build that takes little time rather than one that runs fast."""
    where = run([sys.executable, "-m", "opgen", "--cmake-dir"], source).strip()
    settings = {
        "opgen_DIR": where,
        "Python_EXECUTABLE": sys.executable,
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_CXX_FLAGS_DEBUG": f"-O0 {QUICK}",
        **more,
    }
    flags = [f"-D{name}={value}" for name, value in settings.items()]
    return run(["cmake", "-G", generator, "-S", source, "-B", build, *flags], source)


def build_once(
    name: str, source: Path, folder: Path, generator: str = "Ninja", is_quick: bool = False, **settings: str
) -> Built:
    """The project in `source`, copied below `folder` and built there, if no other process has done so.

    With `is_quick`, it is built over precompiled headers.
    """
    if is_quick:
        settings |= {"CMAKE_CXX_FLAGS_DEBUG": " ".join(over_torch_headers(folder)), "CMAKE_CXX_EXTENSIONS": "OFF"}
    built = Built(folder / name, folder / f"{name}-build")
    with alone(built):
        if not built.source.exists():
            shutil.copytree(source, built.source, ignore=shutil.ignore_patterns("build*"))
        if not (built.build / "CMakeCache.txt").exists():
            configure(built.source, built.build, generator, **settings)
        # For all processes but the first there is nothing to do.
        run(["cmake", "--build", built.build, "--parallel", str(os.cpu_count() or 1)], built.source)
    return built


@contextmanager
def alone(built: Built) -> Iterator[None]:
    """While no other test process builds the project, changes its definitions, or imports it."""
    with built.build.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
