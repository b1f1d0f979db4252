"""What is generated for lazy backends is C++: nodes and kernels go through the compiler's front end.

`everything.yaml` is made in torch's own namespace, `beyond.yaml`, which is what torch's generator can't do, in
another. The functions that their authors write by hand are declared here.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from opgen.backend.backend_yaml import load_backend
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.gen_lazy_tensor import main
from opgen.lazy.shapes import GenLazyShapeInferenceDefinition
from tests.compilers import QUICK

BACKENDS: Final = Path(__file__).resolve().parents[1] / "conformance" / "data" / "lazy"
NON_NATIVE: Final = """
TORCH_API std::vector<Shape> compute_shape_nothing();
TORCH_API std::vector<Shape> compute_shape_many(const Value&, const std::optional<Value>&, const Value&, const Value&,
    const std::vector<int64_t>&, const std::vector<at::Scalar>&, std::string_view);
TORCH_API std::vector<Shape> compute_shape_number(const at::Scalar&, const std::optional<at::Scalar>&);
"""


def _shapes_header(backend_yaml: Path, torch_source: Path) -> str:
    log = Diagnostics()
    native = torch_source / "native"
    program = load_program(native / "native_functions.yaml", native / "tags.yaml", log)
    assert program is not None
    backend = load_backend(backend_yaml, program, log)
    assert backend is not None, log.render()
    generator, wanted = GenLazyShapeInferenceDefinition(backend.index, ""), frozenset(backend.full_codegen)
    lines = [line for f in program.functions if f.func.name in wanted for line in generator(f)]
    head = "#pragma once\n#include <torch/csrc/lazy/core/shape_inference.h>\nnamespace torch::lazy {\n"
    return f"{head}{chr(10).join(lines)}{NON_NATIVE}}}\n"


KINDS: Final = (("beyond", "PrivateUse1", "torch::lazy::TsNode"), ("everything", "Lazy", "TsNode"))
"""Backends, their keys and bases of their nodes. They are one source, so the one in torch's namespace comes last."""


def _generate(name: str, node_base: str, torch_source: Path) -> None:
    """Write a backend to the folder of its name; operators are torch's, templates are our own."""
    backend, native = BACKENDS / f"{name}.yaml", torch_source / "native"
    Path(f"{name}_shapes.h").write_text(_shapes_header(backend, torch_source), encoding="utf-8")
    flags = ["-s", str(backend), "-o", name, "--native-yaml", str(native / "native_functions.yaml")]
    flags += ["--tags", str(native / "tags.yaml"), "--quiet", "--shape-inference-hdr", f"{name}_shapes.h"]
    flags += ["--gen-ts-lowerings", "--node-base", node_base]
    assert main([*flags, "--node-base-hdr", "torch/csrc/lazy/ts_backend/ts_node.h"]) == 0


def _source(name: str, key: str) -> str:
    headers = (f"{name}/LazyIr.h", "torch/csrc/lazy/core/tensor.h", "torch/csrc/lazy/core/tensor_util.h")
    files = (*headers, f"{name}_shapes.h", f"{name}/LazyNonNativeIr.h")
    # Each source of kernels has a function of this name for itself.
    kernels = f"#define to_meta to_meta_{key}\n#include <{name}/{key}NativeFunctions.cpp>\n#undef to_meta\n"
    return "".join(f"#include <{file}>\n" for file in files) + kernels


def test_nodes_and_kernels_compile(torch_source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("c++")
    torch = find_spec("torch")
    assert compiler is not None
    assert torch is not None
    assert torch.submodule_search_locations
    monkeypatch.chdir(tmp_path)
    for name, _, node_base in KINDS:
        _generate(name, node_base, torch_source)
    Path("all.cpp").write_text("".join(_source(name, key) for name, key, _ in KINDS), encoding="utf-8")
    include = Path(torch.submodule_search_locations[0]) / "include"
    folders = (tmp_path, include, include / "torch" / "csrc" / "api" / "include")
    command = [compiler, "-std=c++20", "-w", QUICK, "-fsyntax-only", *(f"-I{folder}" for folder in folders), "all.cpp"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.fail(done.stderr[:4000], pytrace=False)
