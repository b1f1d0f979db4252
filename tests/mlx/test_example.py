"""The example is built, runs, has stubs, and stops where it has to."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.mlx.conftest import REPOSITORY, Run

SOURCE: Final = REPOSITORY / "examples" / "mlx"


def test_operators(example: Path, run: Run) -> None:
    done = run(
        *("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", SOURCE / "tests"),
        folder=example,
        paths=[example / "python"],
    )
    assert done.returncode == 0, done.stdout
    passed = re.search(r"^(\d+) passed in", done.stdout, re.MULTILINE)
    assert passed is not None, done.stdout  # nothing failed, nothing was skipped
    assert int(passed.group(1)) > 150


MLX_STUB: Final = """\
class array:
    def __add__(self, other: array) -> array: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
class Dtype: ...
class Stream: ...
class ThreadLocalStream: ...
class Device: ...
int32: Dtype
def zeros(shape: int | tuple[int, ...]) -> array: ...
def new_stream(device: Device) -> Stream: ...
def default_device() -> Device: ...
"""
"""The wheel of mlx for Linux has no stubs of its own."""

USER: Final = """\
import lab_ops
import mlx.core as mx

x = mx.zeros((2, 3))
device = mx.default_device()
y: mx.array = lab_ops.softcap(x, cap=2.0, stream=mx.new_stream(device))
s, c = lab_ops.sincos(x, stream=device)
z: mx.array = lab_ops.fma(s, c, None) + lab_ops.weighted_sum([x, y], mx.zeros(2))
ramp: mx.array = lab_ops.ramp((2, 3), mx.int32, step=2.0)
parts: list[mx.array] = lab_ops.halves(x, axis=1)
lab_ops.softcap(x, 2.0)
lab_ops.norm(x, axis="first")
lab_ops.sincos(x).shape
lab_ops.softcup(x)
lab_ops.softcap([1.0])
"""
WRONG: Final = ["11", "12", "13", "14", "15"]
"""The lines of it that a type checker refuses."""


def test_stubs_satisfy_mypy(example: Path, run: Run, tmp_path: Path) -> None:
    stubs = tmp_path / "stubs" / "mlx"
    stubs.mkdir(parents=True)
    (stubs / "__init__.pyi").touch()
    (stubs / "core.pyi").write_text(MLX_STUB, encoding="utf-8")
    user = tmp_path / "user.py"
    user.write_text(USER, encoding="utf-8")
    done = run(
        *("python", "-m", "mypy", "--strict", "--no-error-summary", user, example / "python" / "lab_ops"),
        folder=tmp_path,
        environment={"MYPYPATH": f"{stubs.parent}:{example / 'python'}"},
    )
    mistakes = [line.split(":") for line in done.stdout.splitlines() if ": error:" in line]
    assert [line[:2] for line in mistakes] == [["user.py", number] for number in WRONG], done.stdout + done.stderr


def test_a_build_with_nothing_to_do(example: Path, run: Run) -> None:
    done = run("cmake", "--build", example)
    assert "no work to do" in done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the example."""
    return Path(shutil.copytree(SOURCE, tmp_path / "project"))


def test_a_mistake_stops_the_configuration(project: Path, tmp_path: Path, configure: Run) -> None:
    definitions = project / "ops" / "mlx_ops.yaml"
    definitions.write_text(
        definitions.read_text(encoding="utf-8").replace("pointwise: true", "pointwize: true", 1), encoding="utf-8"
    )
    done = configure(project, tmp_path / "build")
    assert done.returncode != 0
    assert "did you mean 'pointwise'?" in done.stderr
    assert "opgen can't make the operators 'lab_ops'" in done.stderr


def test_a_mismatch_of_nanobind_stops_the_configuration(project: Path, tmp_path: Path, configure: Run) -> None:
    other = tmp_path / "packages" / "nanobind"
    (other / "src").mkdir(parents=True)
    (other / "__init__.py").touch()
    (other / "src" / "nb_abi.h").write_text("#define NB_INTERNALS_VERSION 19\n", encoding="utf-8")
    done = configure(project, tmp_path / "build", paths=[other.parent])
    assert done.returncode != 0
    assert "has internals 19, mlx 0.32.0 has 20: arrays can't be passed between them" in done.stderr
    assert "-m pip install 'nanobind==2.14.0'" in done.stderr
