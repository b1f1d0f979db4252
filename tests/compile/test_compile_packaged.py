"""What a default run writes is C++: every header and every source of it goes through the compiler's front end.

The default run is that of opgen's own definitions and templates.  Its tree stands in front of torch's
installed headers, so that `ATen/Functions.h` and the class `Tensor` are the generated ones.

    <tree>/ATen/                    --install-dir
    stubs/                          what torch doesn't install (CUDA, a JSON library, a kernel)
    <site-packages>/torch/include/

All headers go together, as one source.  Sources go several at a time, over a precompiled header of what nearly all
of them include first: one shard of each template, without those that differ from another in names only.
`OPGEN_TEST_ALL=1` compiles every source by itself.  What can't be compiled this way is listed here, and in
docs/templates.md.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from opgen import gen, gen_autograd, gen_python
from opgen.run.inputs import packaged_folder
from tests.compilers import HELPERS, QUICK, together

STUBS: Final = Path(__file__).resolve().parent / "stubs"
FLAGS: Final = ("-std=c++20", "-w", QUICK, "-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT")
TORCH_HEADERS: Final = ("ATen/ATen.h", "ATen/TensorIndexing.h", "ATen/ExpandUtils.h", "torch/library.h")
"""Headers of torch's that call what is generated."""
EVERY_OPERATOR: Final = ("torch/torch.h",)
"""Those that call nearly all operators of torch's definitions, more than opgen's own have."""
COMMON: Final = (
    "ATen/core/Tensor.h",
    "ATen/core/dispatch/Dispatcher.h",
    "ATen/core/op_registration/adaption.h",
    "ATen/DeviceGuard.h",
    "ATen/Dispatch.h",
    "torch/library.h",
    "ATen/Functions.h",
    "ATen/NativeFunctions.h",
    "ATen/Operators.h",
)
"""What nearly all sources include first; the headers that are generated are each looked at by themselves as well."""
FROM_NOTHING: Final = ("UfuncCPU_add.cpp",)
"""Sources over no precompiled header: this one declares a class that `NativeFunctions.h` has as well."""
LIKE_OTHERS: Final = tuple(
    f"Register{key}Everything.cpp"
    for key in (
        *("NestedTensorCUDA", "NestedTensorHPU", "NestedTensorMeta", "QuantizedCUDA", "QuantizedMeta"),
        *("SparseCUDA", "SparseCsrCUDA", "SparseCsrMeta", "SparseMeta"),
    )
)
"""Sources that differ from those of another dispatch key in names only."""
NOT_COMPILED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "RegistrationDeclarations.h": "a list for programs that generate code for backends; no compiler sees it",
        "UfuncCUDA_add.cu": "needs nvcc and CUDA's headers",
    }
)


def _everything_of_shards(tree: Path) -> list[Path]:
    """The files that hold what several shards hold."""
    return [path for path in tree.glob("ATen/*Everything.cpp") if _shard(path, 1).exists()]


def _shard(everything: Path, index: int) -> Path:
    return everything.with_name(everything.name.replace("Everything", f"_{index}"))


class Compiler:
    """A C++ front end, the tree to check, and the headers behind it."""

    def __init__(self, program: str, tree: Path, torch_include: Path) -> None:
        folders = (tree, STUBS, torch_include, torch_include / "torch" / "csrc" / "api" / "include")
        self.command: Final = (program, *FLAGS, *[f"-I{folder}" for folder in folders])

    def complaint(self, source: Path, *flags: str) -> str:
        """What the compiler has against the source; empty if nothing."""
        command = [*self.command, *flags, str(source)]
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        return f"{' '.join(command)}\n{done.stderr[:4000]}" if done.returncode else ""

    def complaints(self, sources: Sequence[Path], *flags: str) -> list[str]:
        """What the compiler has against each of them, as many at a time as there are processors."""
        # The big ones first, so that the processors end together.
        ordered = sorted(sources, key=lambda source: source.stat().st_size, reverse=True)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return [text for text in pool.map(lambda source: self.complaint(source, *flags), ordered) if text]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the default run writes."""
    folder = tmp_path_factory.mktemp("default")
    assert gen.main(["--quiet", "--install-dir", str(folder / "ATen")]) == 0
    return folder


@pytest.fixture(scope="module")
def compiler(tree: Path) -> Compiler:
    return _compiler(tree)


def _compiler(tree: Path) -> Compiler:
    program, spec = shutil.which(os.environ.get("CXX", "g++")), find_spec("torch")
    if program is None or spec is None or not spec.submodule_search_locations:
        pytest.fail("needs torch and a C++20 compiler: g++, or the one that CXX names", pytrace=False)
    return Compiler(program, tree, Path(spec.submodule_search_locations[0]) / "include")


def _including(headers: Sequence[str], path: Path) -> Path:
    path.write_text("".join([f"#include <{header}>\n" for header in headers]), encoding="utf-8")
    return path


def test_headers(tree: Path, compiler: Compiler, tmp_path: Path) -> None:
    """All headers, and torch's own behind them."""
    _check_headers(compiler, tree, TORCH_HEADERS, tmp_path)


def _check_headers(compiler: Compiler, tree: Path, more: Sequence[str], tmp_path: Path) -> None:
    generated = sorted(
        path.relative_to(tree).as_posix() for path in (tree / "ATen").rglob("*.h") if path.name not in NOT_COMPILED
    )
    assert len(generated) > 20
    complaint = compiler.complaint(_including([*generated, *more], tmp_path / "headers.cpp"), "-fsyntax-only")
    if complaint:
        pytest.fail(complaint, pytrace=False)


def test_headers_of_all_of_torch(torch_source: Path, tmp_path: Path) -> None:
    """Our templates with torch's definitions: everything that includes the class `Tensor` accepts ours."""
    ours = tmp_path / "ours"
    shutil.copytree(torch_source / "native", ours / "native")
    tree = tmp_path / "tree"
    arguments = ["--source-path", str(ours), "--install-dir", str(tree / "ATen"), "--generate", "headers"]
    assert gen.main(["--quiet", *arguments]) == 0
    _check_headers(_compiler(tree), tree, (*TORCH_HEADERS, *EVERY_OPERATOR), tmp_path)


def test_sources(tree: Path, compiler: Compiler, tmp_path: Path) -> None:
    texts: dict[bytes, Path] = {}
    several = _everything_of_shards(tree)
    for path in sorted((tree / "ATen").rglob("*.cpp")):
        if path not in several:
            # With a single shard, that and the file with everything are the same.
            texts.setdefault(path.read_bytes(), path)
    common = _including(COMMON, tmp_path / "common.h")
    failures = [compiler.complaint(common, "-x", "c++-header", "-o", f"{common}.gch")]
    paths = [path for path in texts.values() if os.environ.get("OPGEN_TEST_ALL") or _is_sample(path)]
    alone = [path for path in paths if path.name in FROM_NOTHING]
    others = [path for path in paths if path.name not in FROM_NOTHING]
    assert len(alone) == len(FROM_NOTHING)
    assert len(others) > 20
    assert {path.name for path in (tree / "ATen").iterdir()} >= set(LIKE_OTHERS)
    joined = together(others, tmp_path / "kernels", "create_out(", HELPERS)
    failures += compiler.complaints(joined, "-fsyntax-only", "-include", str(common))
    failures += compiler.complaints(alone, "-fsyntax-only")
    failures = list(filter(None, failures))
    if failures:
        pytest.fail(f"{len(failures)} sources fail\n\n" + "\n".join(failures[:5]), pytrace=False)


def _is_sample(path: Path) -> bool:
    """Whether it is the first shard, of a source that isn't like another."""
    return path.name not in LIKE_OTHERS and not re.search(r"_[1-9]\d*\.cpp$", path.name)


AUTOGRAD: Final = (
    "ADInplaceOrViewType_0.cpp",
    "Functions.cpp",
    "TraceType_0.cpp",
    "VariableType_0.cpp",
    "ViewFuncs.cpp",
    "python_enum_tag.cpp",
    "python_functions_0.cpp",
    "python_nn_functions.cpp",
    "python_return_types.cpp",
    "python_torch_functions_0.cpp",
    "python_variable_methods.cpp",
)
"""One source of each template but those that differ from another in names only."""


def test_sources_of_autograd(tree: Path, compiler: Compiler, tmp_path: Path) -> None:
    """What our templates make of our derivatives, and of the bindings to Python."""
    python = Path(sysconfig.get_paths()["include"])
    if not (python / "Python.h").is_file():
        pytest.fail(f"there is no {python / 'Python.h'}: install what Python's own extensions are built with")
    out, native = tree / "torch" / "csrc" / "autograd" / "generated", packaged_folder("ATen") / "native"
    inputs = (native / "native_functions.yaml", native / "tags.yaml", out, packaged_folder("autograd"))
    for generator in (gen_autograd, gen_python):
        assert generator.main([*map(str, inputs), "--quiet"]) == 0
    bindings = [out / name for name in AUTOGRAD if name.startswith("python_")]
    kernels = [out / name for name in AUTOGRAD if not name.startswith("python_")]
    joined = together(bindings, tmp_path / "bindings", "static PyObject * THPVariable_")
    joined += together(kernels, tmp_path / "kernels")
    failures = compiler.complaints(joined, "-fsyntax-only", f"-I{python}")
    if failures:
        pytest.fail(f"{len(failures)} sources fail\n\n" + "\n".join(failures[:5]), pytrace=False)


def test_files_with_everything_say_what_the_shards_say(tree: Path) -> None:
    """So what was compiled is them as well."""
    several = _everything_of_shards(tree)
    assert sorted(path.name for path in several) == [
        "OperatorsEverything.cpp",
        "RegisterCPUEverything.cpp",
        "RegisterFunctionalizationEverything.cpp",
    ]
    for everything in several:
        shards = everything.parent.glob(everything.name.replace("Everything", "_*"))
        lines = {line for shard in shards for line in shard.read_text(encoding="utf-8").splitlines()}
        assert set(everything.read_text(encoding="utf-8").splitlines()) <= lines


def test_what_is_not_compiled_is_there(tree: Path) -> None:
    """The list of exceptions holds no file that nobody writes."""
    assert {path.name for path in tree.rglob("*")} >= set(NOT_COMPILED)
    others = {
        path.suffix for path in (tree / "ATen").rglob("[!.]*") if path.is_file() and path.name not in NOT_COMPILED
    }
    assert others == {".h", ".cpp", ".yaml"}
