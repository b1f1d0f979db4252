"""What builds cost and need: torch without a toolkit for its device, tools that are missing.

The shape function in Python is that of docs/extension.md.
"""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from opgen import __main__ as opgen
from opgen import cpp_extension, undefined_kernels
from tests.extension.building import EXAMPLES, configure, require_tools, run

TINY = """
- func: mylib::twice(Tensor self) -> Tensor
  dispatch:
    CPU: twice
"""
TWICE = """
#include <ATen/ops/mul.h>
#include <mylib/NativeFunctions.h>

at::Tensor mylib::native::twice(const at::Tensor& self) {
  return at::mul(self, 2);
}
"""


def _project(folder: Path) -> Path:
    assert opgen.main(["new", "mylib", "--into", str(folder)]) == 0
    (folder / "ops" / "native" / "native_functions.yaml").write_text(TINY)
    (folder / "src" / "kernels.cpp").write_text(TWICE)
    return folder


@pytest.fixture
def torch_with_cuda(tmp_path: Path) -> Path:
    """A torch with CUDA, made of the installed one, whose CMake package fails as it does without CUDA's toolkit."""
    spec = find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    installed, made = Path(spec.submodule_search_locations[0]), tmp_path / "torch"
    config = made / "share" / "cmake" / "Torch" / "TorchConfig.cmake"
    config.parent.mkdir(parents=True)
    config.write_text('message(FATAL_ERROR "Your installed Caffe2 version uses CUDA but I cannot find the toolkit")\n')
    (made / "include").symlink_to(installed / "include")
    (made / "lib").mkdir()
    for library in (installed / "lib").iterdir():
        (made / "lib" / library.name).symlink_to(library)
    (made / "lib" / "libtorch_cuda.so").touch()
    return made


def test_torch_with_cuda_builds_without_the_toolkit(torch_with_cuda: Path, tmp_path: Path) -> None:
    require_tools("ninja")
    compiler = shutil.which("nvcc")
    ignored = [str(Path(compiler).parent)] if compiler else []
    build = tmp_path / "build"
    said = configure(
        EXAMPLES / "rational",
        build,
        "Ninja",
        Torch_DIR=str(torch_with_cuda / "share" / "cmake" / "Torch"),
        CMAKE_IGNORE_PATH=";".join([*ignored, "/usr/local/cuda/bin"]),
    )
    assert "torch has 'cuda', but there is no nvcc: sources for it are left out" in said
    targets = run(["ninja", "-t", "targets", "all"], build)
    assert "Unit_0.cpp.o" in targets
    assert "RegisterCUDA" not in targets
    assert str(torch_with_cuda / "lib" / "libtorch_cpu.so") in (build / "build.ninja").read_text()


def test_builds_optimize_unless_told_otherwise(tmp_path: Path) -> None:
    require_tools("ninja")
    project = _project(tmp_path / "mylib")
    lists = project / "CMakeLists.txt"
    default = "if(NOT CMAKE_BUILD_TYPE)\n  set(CMAKE_BUILD_TYPE Release)\nendif()\n"
    assert default in lists.read_text()
    lists.write_text(lists.read_text().replace(default, ""))
    where = run([sys.executable, "-m", "opgen", "--cmake-dir"], project).strip()
    flags = [f"-Dopgen_DIR={where}", f"-DPython_EXECUTABLE={sys.executable}"]
    run(["cmake", "-G", "Ninja", "-S", project, "-B", project / "build", *flags], project)
    assert "CMAKE_BUILD_TYPE:STRING=Release" in (project / "build" / "CMakeCache.txt").read_text()


CLIP = """
- func: mylib::clip(Tensor self, float low) -> Tensor
  dispatch:
    CPU: clip
"""
CALLER = """
namespace at {
class Tensor;
}
namespace mylib::native {
at::Tensor clip(const at::Tensor& self, double low);
at::Tensor clip(const at::Tensor& self, float low);
const void* used = reinterpret_cast<const void*>(static_cast<at::Tensor (*)(const at::Tensor&, double)>(&clip));
}
"""
MISSING = """\
opgen: these functions are declared, but no source defines them with the same parameters:
  mylib::clip(Tensor self, float low) -> Tensor
    at::Tensor mylib::native::clip(const at::Tensor & self, double low)
"""


def test_missing_kernels_are_explained(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """When a linker reports them, and when a module of Python's is linked without them."""
    require_tools()
    definitions = tmp_path / "ops" / "native" / "native_functions.yaml"
    definitions.parent.mkdir(parents=True)
    definitions.write_text(CLIP)
    headers, source, library = tmp_path / "generated", tmp_path / "caller.cpp", tmp_path / "libmylib.so"
    cpp_extension.generate_sources(tmp_path / "ops", headers)
    source.write_text(CALLER)
    command = ["c++", "-std=c++20", "-shared", "-fPIC", "-O0", str(source), "-o", str(library)]
    assert undefined_kernels.main([str(headers), *command, "-Wl,-z,defs"]) != 0
    assert capfd.readouterr().err.endswith(MISSING)
    assert undefined_kernels.main([str(headers), *command]) == 0
    with pytest.raises(SystemExit) as problem:
        cpp_extension._check_kernels(library, headers)
    assert str(problem.value) == MISSING.rstrip()
    assert not library.exists()


def test_missing_torch_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(SystemExit) as problem:
        cpp_extension.generated_package("mylib", tmp_path, [])
    assert str(problem.value) == (
        f"opgen: building an extension needs torch, and there is none; install it with: {sys.executable} -m pip install"
        " torch"
    )


def test_missing_compiler_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", os.fspath(tmp_path / "no-compiler"))
    with pytest.raises(SystemExit, match=r"needs .*no-compiler, and there is none; install it with: "):
        cpp_extension.load("mylib", tmp_path, [], build_directory=tmp_path)


class _AskedToCompile(Exception):
    """Ends `load` where it would compile."""


@pytest.mark.parametrize(("given", "expected"), [({}, ["-O3"]), ({"extra_cflags": ["-O0"]}, ["-O0"])])
def test_load_optimizes_unless_it_is_told_otherwise(
    given: dict[str, Any], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch.utils.cpp_extension as builder

    flags = list[str]()

    def compile_none(*_: object, extra_cflags: list[str], **__: object) -> None:
        flags.extend(extra_cflags)
        raise _AskedToCompile

    monkeypatch.setattr(builder, "load", compile_none)
    (tmp_path / "ops" / "native").mkdir(parents=True)
    (tmp_path / "ops" / "native" / "native_functions.yaml").write_text("- func: mylib::twice(Tensor self) -> Tensor\n")
    with pytest.raises(_AskedToCompile):
        cpp_extension.load("mylib", tmp_path / "ops", [], build_directory=tmp_path, **given)
    assert [flag for flag in flags if flag.startswith("-O")] == expected
