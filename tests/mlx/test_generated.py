"""Generated code compiles for every type of argument and for awkward names, with the skeletons as kernels."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

from opgen.run.spine import run as run_command
from tests.compilers import QUICK

DEFINITIONS: Final = """\
- name: every_type
  signature: >-
    std::tuple<array, array, array> every_type(array a, const std::optional<array>& b, std::vector<array> c,
    int d = -1, int64_t e = 2, float f = 1, double g = 0.5e-3, bool h = true, const std::string& i = "a\\"b",
    Shape j = {1, 2}, Dtype k = mx.bfloat16, std::vector<int> l = (3, -4), std::optional<int> m = None,
    std::optional<float> n = 2, std::optional<bool> o = nullopt, std::optional<std::string> p = std::nullopt,
    std::optional<Shape> q = {}, std::optional<Dtype> r = None, StreamOrDevice s = {})
  dispatch: {cpu: every_type_cpu}
  dtypes: all
  shape: [same, scalar, "mx::Shape{d, a.shape(0)}"]
  result_dtype: [same, int32, bool_]
  vmap: {d: d + 1, j: "replace_axis(j, 0, 2)"}
  grad: {a: grad0, b: none, c: "std::vector<array>(c.size(), grad1)"}
- name: awkward
  signature: "array awkward(const array& inputs, const array& outputs, float params, float axes = 0, int index = 0)"
  pointwise: true
  dispatch: {cpu: awkward_cpu}
  grad: {inputs: grad * params, outputs: mx::array(axes)}
- name: awkward_composite
  signature: "array awkward_composite(const array& primals, int argnums, std::vector<array> results, bool name)"
  composite: "name ? primals * argnums : results[0]"
  grad: {primals: grad, results: results}
- name: scale
  signature: "array scale(const array& x, const array& scale)"
  pointwise: true
  dtypes: [float32]
  dispatch: {cpu: scale_cpu}
  vmap: loop
- name: by_hand
  signature: "std::pair<array, array> by_hand(const array& x, std::optional<array> y = None)"
  grad: {x: grad0 + grad1, y: none}
- name: filled
  signature: "array filled(const Shape& shape, double value)"
  dispatch: {cpu: filled_cpu}
  shape: shape
  result_dtype: float32
  vmap: none
- name: pairs
  signature: "std::pair<array, array> pairs(const array& x, const std::optional<array>& y)"
  pointwise: true
  input_dtypes: {y: uint8}
  result_dtype: [int64, same]
  dispatch: {cpu: pairs_cpu}
"""


def test_compiles(mlx: Path, tmp_path: Path) -> None:
    (tmp_path / "mlx_ops.yaml").write_text(DEFINITIONS, encoding="utf-8")
    out = tmp_path / "out"
    flags = ("--source-path", str(tmp_path), "--install-dir", str(out), "--namespace", "awkward_ops", "--quiet")
    assert run_command("gen_mlx", flags) == 0
    shutil.copy(out / "skeletons" / "kernels.h", out)
    headers = next((mlx / "lib").glob("python3*/site-packages/mlx/include"))
    command = [os.environ.get("CXX", "g++"), QUICK, "-std=c++20", "-fsyntax-only", "-Wall", "-Wno-return-type"]
    for source in (out / "ops.cpp", out / "skeletons" / "composite.cpp"):
        words = [*command, f"-I{out}", "-isystem", str(headers), str(source)]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", check=False)
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr
