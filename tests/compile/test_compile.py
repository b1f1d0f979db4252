"""What is generated is C++: a sample of each kind of file goes through the compiler's front end.

The generated tree stands in front of torch's installed headers, as it does in a build of torch:

    <tree>/ATen/                                        --install-dir
    <tree>/torch/csrc/inductor/aoti_torch/generated/    --aoti-install-dir
    stubs/                                              what torch doesn't install (CUDA, a JSON library, a kernel)
    <site-packages>/torch/include/

Nothing is linked: kernels need only be declared. Sources are read over a precompiled header, of the generated class
`Tensor` and of headers of torch's that nearly all of them begin with. It has no header of ours that they name.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.compilers import HELPERS, QUICK, together
from tests.conformance.flagsets import FlagSet
from tests.conformance.runs import run_command
from tests.sharing import Share

STUBS: Final = Path(__file__).resolve().parent / "stubs"
SHIMS: Final = "torch/csrc/inductor/aoti_torch/generated"

# Of the templates; sources of other keys, devices and operators differ in names alone. With torch's definitions and
# templates the text is torchgen's: it is other definitions whose sources are all compiled (test_compile_packaged).
# Headers that stand by themselves, beside those that a source below begins with.
HEADERS: Final = (
    "NativeFunctions.h",
    "Operators.h",
    "RedispatchFunctions.h",
    "CPUFunctions.h",
    "core/aten_interned_strings.h",
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
# Those that are one for the compiler, which takes seconds for what they all instantiate of torch's templates.
SOURCES: Final = (
    (
        *("ATen/RegisterFunctionalization_1.cpp", "ATen/Operators_0.cpp", "ATen/RegisterBackendSelect.cpp"),
        *("ATen/RegisterSchema.cpp", f"{SHIMS}/c_shim_aten.cpp", f"{SHIMS}/c_shim_cpu.cpp", f"{SHIMS}/c_shim_cuda.cpp"),
    ),
    (
        *("ATen/RegisterCPU_1.cpp", "ATen/RegisterSparseCUDA_0.cpp", "ATen/CompositeViewCopyKernels.cpp"),
        "ATen/RegisterCompositeImplicitAutogradNestedTensor_0.cpp",
    ),
)
# These begin with headers that must stand by themselves (Functions.h, FunctionalInverses.h, TensorBody.h), or say that
# they do without the class `Tensor`.
SOURCES_WITHOUT_COMMON: Final = (
    "ATen/Functions.cpp",
    "ATen/ViewMetaClasses.cpp",
    "ATen/UfuncCPUKernel_add.cpp",
    "ATen/UfuncCPU_add.cpp",
    "ATen/core/TensorMethods.cpp",
    "ATen/core/ATenOpList.cpp",
)
COMMON: Final = (
    "ATen/core/Tensor.h",
    "ATen/core/dispatch/Dispatcher.h",
    "ATen/core/op_registration/adaption.h",
    "ATen/DeviceGuard.h",
    "ATen/Dispatch.h",
    "torch/library.h",
)
PER_OPERATOR: Final = "-DAT_PER_OPERATOR_HEADERS"
DEFINES: Final = ("-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ front end and the headers of the installed torch."""

    program: str
    torch_include: Path

    def check(self, source: Path, tree: Path, *flags: str) -> None:
        """Fail the test unless the source is accepted."""
        self._run(tree, "-fsyntax-only", *flags, str(source))

    def precompile(self, headers: Sequence[str], folder: Path, tree: Path, *flags: str) -> None:
        """Precompiles headers, as `common.h` in the folder. Sources need the flags and `-include` with its path."""
        common = folder / "common.h"
        common.write_text("".join(f"#include <{header}>\n" for header in headers), encoding="utf-8")
        self._run(tree, *flags, "-x", "c++-header", "-o", f"{common}.gch", str(common))

    def _run(self, tree: Path, *arguments: str) -> None:
        include = (tree, STUBS, self.torch_include, self.torch_include / "torch" / "csrc" / "api" / "include")
        folders = [f"-I{folder}" for folder in include]
        command = [self.program, "-std=c++20", "-w", QUICK, *DEFINES, *folders, *arguments]
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


def _generate(generator: str, source: Path, tree: Path, *arguments: str) -> None:
    command = FlagSet("tree", install_dir=False).command(generator, source)
    run = run_command([*command, "-d", str(tree / "ATen"), "--aoti-install-dir", str(tree / SHIMS), *arguments], tree)
    if run.code != 0:
        pytest.fail(f"exit code {run.code}\n{run.out}\n{run.err}", pytrace=False)


@pytest.fixture(scope="session")
def tree(generator: str, torch_source: Path, share: Share) -> Path:
    """A whole tree: one header an operator, all shims with their headers."""
    arguments = ("--per-operator-headers", "--update-aoti-c-shim")
    return share.folder("tree", lambda folder: _generate(generator, torch_source, folder, *arguments))


@pytest.fixture(scope="session")
def whole_tree(generator: str, torch_source: Path, share: Share) -> Path:
    """A tree of headers that each hold all operators."""
    return share.folder("whole", lambda folder: _generate(generator, torch_source, folder, "--generate", "headers"))


@pytest.fixture(scope="session")
def precompiled(compiler: Compiler, tree: Path, share: Share) -> tuple[str, ...]:
    """Flags for sources of the whole tree."""
    folder = share.folder("precompiled", lambda folder: compiler.precompile(COMMON, folder, tree, PER_OPERATOR))
    return (PER_OPERATOR, "-include", str(folder / "common.h"))


def _including(folder: Path, *lines: str) -> Path:
    source = folder / "including.cpp"
    source.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return source


@pytest.mark.parametrize("names", SOURCES, ids=["calls", "kernels"])
def test_sources(
    names: tuple[str, ...], compiler: Compiler, tree: Path, precompiled: tuple[str, ...], tmp_path: Path
) -> None:
    for source in together([tree / name for name in names], tmp_path / "whole", helpers=HELPERS):
        compiler.check(source, tree, *precompiled)


@pytest.mark.parametrize("name", SOURCES_WITHOUT_COMMON)
def test_source_by_itself(name: str, compiler: Compiler, tree: Path) -> None:
    compiler.check(tree / name, tree, PER_OPERATOR)


@pytest.mark.parametrize("name", HEADERS)
def test_header_alone(name: str, compiler: Compiler, tree: Path, tmp_path: Path) -> None:
    source = _including(tmp_path, f"#include <ATen/{name}>")
    compiler.check(source, tree, PER_OPERATOR)


def test_headers_after_the_tensor_class(
    compiler: Compiler, tree: Path, precompiled: tuple[str, ...], tmp_path: Path
) -> None:
    """These, and a list for backends out of the tree to read. It's C++ too, once `std` the operator isn't `std`."""
    lines = [f"#include <ATen/{name}>" for name in HEADERS_AFTER_TENSOR]
    lines += ("namespace registration {", "#include <ATen/RegistrationDeclarations.h>", "}")
    compiler.check(_including(tmp_path, *lines), tree, *precompiled)


def test_headers_of_all_operators(compiler: Compiler, whole_tree: Path, tmp_path: Path) -> None:
    compiler.check(_including(tmp_path, *(f"#include <ATen/{name}>" for name in WHOLE_HEADERS)), whole_tree)


def test_shim_headers(compiler: Compiler, tree: Path, tmp_path: Path) -> None:
    lines = [f"#include <{SHIMS}/c_shim_{device}.h>" for device in ("aten", "cpu", "cuda", "mps", "xpu")]
    compiler.check(_including(tmp_path, *lines), tree)
