"""What is generated is C++: a sample of each kind of file goes through the compiler's front end.

The generated tree stands in front of torch's installed headers, as it does in a build of torch:

    <tree>/ATen/                                        --install-dir
    <tree>/torch/csrc/inductor/aoti_torch/generated/    --aoti-install-dir
    stubs/                                              what torch doesn't install (CUDA, a JSON library, a kernel)
    <site-packages>/torch/include/

Nothing is linked: kernels need only be declared.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.conformance.flagsets import FlagSet
from tests.conformance.runs import run_command

STUBS: Final = Path(__file__).resolve().parent / "stubs"
SHIMS: Final = "torch/csrc/inductor/aoti_torch/generated"

# One of each template; those of other keys, devices and operators differ from them in names alone.
# Headers that stand by themselves.
HEADERS: Final = (
    "Functions.h",
    "NativeFunctions.h",
    "Operators.h",
    "RedispatchFunctions.h",
    "CPUFunctions.h",
    "core/TensorBody.h",
    "core/aten_interned_strings.h",
    "FunctionalInverses.h",
    "ViewMetaClasses.h",
    "VmapGeneratedPlumbing.h",
    "ops/add.h",
    "ops/add_meta.h",
    "ops/max_pool2d.h",
)
# Headers that expect the tensor class, as everything that includes them does.
HEADERS_AFTER_TENSOR: Final = (
    "MethodOperators.h",
    "CPUFunctions_inl.h",
    "ops/add_ops.h",
    "ops/add_cpu_dispatch.h",
)
# Headers of a run without --per-operator-headers, where they declare everything in one place. (With it,
# NativeMetaFunctions.h includes X_meta.h for each X, though only structured operators have one: nobody can use it.)
WHOLE_HEADERS: Final = (
    "NativeMetaFunctions.h",
    "NativeFunctions.h",
    "Operators.h",
    "MetaFunctions.h",
)
# The slowest first, so that parallel workers end together.
SOURCES: Final = (
    "ATen/RegisterMeta_0.cpp",
    "ATen/RegisterCompositeExplicitAutogradNonFunctional_0.cpp",
    "ATen/RegisterFunctionalization_1.cpp",
    "ATen/RegisterCPU_1.cpp",
    "ATen/Operators_0.cpp",
    "ATen/RegisterSparseCUDA_0.cpp",
    "ATen/RegisterCompositeImplicitAutogradNestedTensor_0.cpp",
    "ATen/CompositeViewCopyKernels.cpp",
    "ATen/Functions.cpp",
    "ATen/RegisterBackendSelect.cpp",
    "ATen/RegisterSchema.cpp",
    "ATen/ViewMetaClasses.cpp",
    "ATen/UfuncCPUKernel_add.cpp",
    "ATen/UfuncCPU_add.cpp",
    "ATen/core/TensorMethods.cpp",
    "ATen/core/ATenOpList.cpp",
    f"{SHIMS}/c_shim_aten.cpp",
    f"{SHIMS}/c_shim_cpu.cpp",
    f"{SHIMS}/c_shim_cuda.cpp",
)
DEFINES: Final = ("-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ front end and the headers of the installed torch."""

    program: str
    torch_include: Path

    def check(self, source: Path, tree: Path, *flags: str) -> None:
        """Fail the test unless the source is accepted."""
        include = (tree, STUBS, self.torch_include, self.torch_include / "torch" / "csrc" / "api" / "include")
        folders = [f"-I{folder}" for folder in include]
        command = [self.program, "-std=c++20", "-fsyntax-only", "-w", *DEFINES, *flags, *folders, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        if done.returncode != 0:
            pytest.fail(f"{' '.join(command)}\n{done.stderr[:4000]}", pytrace=False)


@pytest.fixture(scope="session")
def compiler() -> Compiler:
    """The compiler named by CXX, or g++. Without one this fails: it's half of what the suite is for."""
    program = shutil.which(os.environ.get("CXX", "g++"))
    spec = importlib.util.find_spec("torch")
    if program is None or spec is None or not spec.submodule_search_locations:
        pytest.fail("needs torch and a C++20 compiler: g++, or the one that CXX names", pytrace=False)
    return Compiler(program, Path(spec.submodule_search_locations[0]) / "include")


def _generated(generator: str, source: Path, tree: Path, *arguments: str) -> Path:
    command = FlagSet("tree", install_dir=False).command(generator, source)
    run = run_command([*command, "-d", str(tree / "ATen"), "--aoti-install-dir", str(tree / SHIMS), *arguments], tree)
    if run.code != 0:
        pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)
    return tree


@pytest.fixture(scope="session")
def tree(generator: str, torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole tree: one header an operator, all shims with their headers."""
    arguments = ("--per-operator-headers", "--update-aoti-c-shim")
    return _generated(generator, torch_source, tmp_path_factory.mktemp("tree"), *arguments)


@pytest.fixture(scope="session")
def whole_tree(generator: str, torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree of headers that each hold all operators."""
    return _generated(generator, torch_source, tmp_path_factory.mktemp("whole"), "--generate", "headers")


def _including(folder: Path, *lines: str) -> Path:
    source = folder / "including.cpp"
    source.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return source


@pytest.mark.parametrize("name", SOURCES)
def test_source(name: str, compiler: Compiler, tree: Path) -> None:
    compiler.check(tree / name, tree, "-DAT_PER_OPERATOR_HEADERS")


@pytest.mark.parametrize("name", HEADERS)
def test_header_alone(name: str, compiler: Compiler, tree: Path, tmp_path: Path) -> None:
    source = _including(tmp_path, f"#include <ATen/{name}>")
    compiler.check(source, tree, "-DAT_PER_OPERATOR_HEADERS")


@pytest.mark.parametrize("name", HEADERS_AFTER_TENSOR)
def test_header_after_the_tensor_class(name: str, compiler: Compiler, tree: Path, tmp_path: Path) -> None:
    source = _including(tmp_path, "#include <ATen/core/Tensor.h>", f"#include <ATen/{name}>")
    compiler.check(source, tree, "-DAT_PER_OPERATOR_HEADERS")


@pytest.mark.parametrize("name", WHOLE_HEADERS)
def test_header_of_all_operators(name: str, compiler: Compiler, whole_tree: Path, tmp_path: Path) -> None:
    compiler.check(_including(tmp_path, f"#include <ATen/{name}>"), whole_tree)


def test_registration_declarations(compiler: Compiler, tree: Path, tmp_path: Path) -> None:
    """A list for backends out of the tree to read. It's C++ too, once `std` the operator isn't `std` the namespace."""
    lines = ("#include <ATen/ATen.h>", "namespace registration {", "#include <ATen/RegistrationDeclarations.h>", "}")
    compiler.check(_including(tmp_path, *lines), tree)


def test_shim_headers(compiler: Compiler, tree: Path, tmp_path: Path) -> None:
    lines = [f"#include <{SHIMS}/c_shim_{device}.h>" for device in ("aten", "cpu", "cuda", "mps", "xpu")]
    compiler.check(_including(tmp_path, *lines), tree)
