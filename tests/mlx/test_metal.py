"""The code for Metal agrees with mlx's own headers; Metal itself exists on Apple's machines only.

Stand-ins for metal-cpp and for Metal's language let a C++ compiler check names, types and syntax.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

from opgen.run.spine import run as run_command
from tests.compilers import QUICK
from tests.mlx.conftest import REPOSITORY

STANDINS: Final = Path(__file__).resolve().parent / "metal"
DEFINITIONS: Final = """\
- name: softcap
  signature: "array softcap(const array& x, float cap = 30.0)"
  pointwise: true
  dispatch: {metal: softcap_metal}
- name: sum_rows
  signature: "std::pair<array, array> sum_rows(const array& x, const array& index, double scale, bool mean)"
  dispatch: {metal: sum_rows_metal}
  input_dtypes: {index: int32}
  result_dtype: [same, int32]
  shape: drop_axis(x.shape(), -1)
"""
BODIES: Final = """\
template <typename T>
T softcap_metal(T x, float cap) {
  return static_cast<T>(cap * metal::tanh(static_cast<float>(x) / cap));
}
"""


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("metal")
    (folder / "mlx_ops.yaml").write_text(DEFINITIONS, encoding="utf-8")
    flags = ("--source-path", str(folder), "--install-dir", str(folder / "out"), "--namespace", "lab", "--quiet")
    assert run_command("gen_mlx", flags) == 0
    return folder / "out"


def _check(source: Path, *flags: str | Path) -> None:
    words = [
        os.environ.get("CXX", "g++"),
        QUICK,
        "-std=c++20",
        "-fsyntax-only",
        "-Wall",
        "-Wno-attributes",
        *map(str, flags),
        str(source),
    ]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr


def test_glue(generated: Path, mlx: Path) -> None:
    headers = next((mlx / "lib").glob("python3*/site-packages/mlx/include"))
    _check(generated / "metal.cpp", "-DOPGEN_MLX_METAL", "-I", generated, "-isystem", headers, "-isystem", STANDINS)


def test_kernels(generated: Path, tmp_path: Path) -> None:
    skeleton = (generated / "skeletons" / "kernels_metal.h").read_text(encoding="utf-8")
    softcap = re.compile(r"template <typename T>\nT softcap_metal\(.*?\n}\n", re.DOTALL)
    assert softcap.search(skeleton)
    (tmp_path / "kernels_metal.h").write_text(softcap.sub(BODIES, skeleton), encoding="utf-8")
    _check(generated / "kernels.metal", "-x", "c++", "-I", tmp_path, "-isystem", STANDINS)


def test_the_example() -> None:
    """Its kernel for Metal is one of those above."""
    source = (REPOSITORY / "examples" / "mlx" / "src" / "kernels_metal.h").read_text(encoding="utf-8")
    assert BODIES in source
