"""What the tests of operators of MLX share: their environment, and one build of the example."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest

from tests.compilers import QUICK
from tests.fetch import MLX, resource
from tests.sharing import Share

Run = Callable[..., "subprocess.CompletedProcess[str]"]
REPOSITORY: Final = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def mlx() -> Path:
    """The environment with mlx and nanobind, and without torch."""
    return resource(MLX)


@pytest.fixture(scope="session")
def run(mlx: Path) -> Run:
    """Runs a command in that environment, with opgen importable; `python` is its Python."""
    python = mlx / "bin" / "python"
    site = next((mlx / "lib").glob("python3*/site-packages"))
    programs = [site / "cmake" / "data" / "bin", mlx / "bin"]
    path = os.pathsep.join([*map(str, programs), os.environ["PATH"]])
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}

    def run_in(
        *command: str | Path,
        folder: Path | None = None,
        paths: Sequence[Path] = (),
        environment: Mapping[str, str] = {},
    ) -> subprocess.CompletedProcess[str]:
        words = [str(python) if word == "python" else str(word) for word in command]
        python_path = os.pathsep.join(map(str, [*paths, REPOSITORY]))
        return subprocess.run(
            words,
            cwd=folder,
            env={**clean, "PATH": path, "PYTHONPATH": python_path, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    return run_in


@pytest.fixture(scope="session")
def configure(mlx: Path, run: Run) -> Run:
    """Configures a project of MLX with CMake."""

    def configure_in(source: Path, build: Path, *flags: str, **settings: object) -> subprocess.CompletedProcess[str]:
        return run(
            *("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-Dopgen_DIR={REPOSITORY / 'opgen' / 'cmake'}"),
            *(f"-DPython_EXECUTABLE={mlx / 'bin' / 'python'}", *flags),
            **settings,
        )

    return configure_in


@pytest.fixture(scope="session")
def example(share: Share, run: Run, configure: Run) -> Path:
    """The folder that the example is built in, once for all tests: CMake's, with the package in python/."""

    def build(folder: Path) -> None:
        # A build that takes little time; that of a new project is as users have it.
        quick = ("-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_CXX_FLAGS_DEBUG=-O0 {QUICK}")
        done = configure(REPOSITORY / "examples" / "mlx", folder, *quick)
        assert done.returncode == 0, done.stdout + done.stderr
        done = run("cmake", "--build", folder)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "warning:" not in done.stdout

    return share.folder("mlx-example", build)
