"""`opgen new --stable-abi`: what is laid out builds in seconds and passes its tests; what a package is to others.

It is what docs/how-to/stable-abi.md describes.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from opgen import __main__ as opgen
from opgen import gen
from tests.extension.building import require_tools, run
from tests.stable.building import LIBRARY

torch = pytest.importorskip("torch")

SECONDS = 15
"""Processor time that a build of a new project may take."""


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_new_project_builds_in_seconds_and_passes_its_tests(tmp_path: Path) -> None:
    require_tools("ninja")
    project, build = tmp_path / "mylib", tmp_path / "mylib" / "build"
    assert opgen.main(["new", "mylib", "--stable-abi", "--into", str(project)]) == 0
    folder = run([sys.executable, "-m", "opgen", "--cmake-dir"], project).strip()
    before = _processor_seconds()
    settings = [f"-Dopgen_DIR={folder}", f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_CXX_COMPILER_LAUNCHER="]
    said = run(["cmake", "-G", "Ninja", "-S", project, "-B", build, *settings], project)
    run(["cmake", "--build", build], project)
    assert _processor_seconds() - before < SECONDS
    assert "warning" not in said
    assert "4 passed" in run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], project)
    assert "ninja: no work to do." in run(["cmake", "--build", build], project)

    run(["cmake", "--install", build, "--prefix", tmp_path / "site"], project)
    assert sorted(path.name for path in (tmp_path / "site" / "mylib").glob("*.so")) == ["_C.abi3.so", "libmylib.so"]
    program = "import mylib, torch; assert mylib.scaled_add(torch.ones(2), torch.ones(2), scale=3).tolist() == [4, 4]"
    run([sys.executable, "-c", program], tmp_path, PYTHONPATH=str(tmp_path / "site"))


def test_the_library_alone_has_the_operators(built: Path) -> None:
    """Without the package there are the kernels, and nothing that the package registers."""
    program = (
        "import sys, torch; torch.ops.load_library(sys.argv[1]); a = torch.ones(2);"
        "print(torch.ops.portable.scaled_add(a, a, scale=2).tolist())"
    )
    (binary,) = (built / "portable").glob("_C.abi3.*")
    assert run([sys.executable, "-c", program, binary], built).strip() == "[3.0, 3.0]"


def test_stubs_are_right(tmp_path: Path, built: Path, type_check) -> None:  # type: ignore[no-untyped-def]
    program = tmp_path / "program.py"
    program.write_text(
        "import portable\n"
        "import torch\n"
        "a = torch.ones(2)\n"
        "portable.scaled_add(a, 2, scale=1.5, out=a)\n"
        "least: torch.Tensor = portable.extremes(a).least\n"
        "halves: tuple[torch.Tensor, ...] = portable.halves(a)\n"
        "portable.shift(a, 1)\n"
        "portable.scaled_add(a)\n"
    )
    code, said = type_check(tmp_path, "program.py", path=built)
    assert code == 1
    assert 'program.py:8: error: No overload variant of "scaled_add" matches argument type "Tensor"' in said
    assert said.count("error:") == 1, said


def test_sources_of_devices_compile(built: Path) -> None:
    """Kernels for CUDA need its toolkit; their registration doesn't."""
    generated = built.parent / "generated"
    if not generated.is_dir():
        pytest.skip("the binary comes from elsewhere")
    headers = str(Path(torch.__file__).parent / "include")
    macro = "-DTORCH_TARGET_VERSION=0x020a000000000000ULL"
    flags = ["-std=c++20", "-fsyntax-only", "-Wall", "-Werror", macro, f"-I{generated}", "-isystem", headers]
    run(["c++", *flags, str(generated / "RegisterCUDA.cpp")], built)


def test_one_folder_makes_both_kinds_of_extensions(tmp_path: Path) -> None:
    for flags in ([], ["--stable-abi", "2.10"], ["--stable-abi", "2.13"]):
        assert gen.main(["--source-path", str(LIBRARY / "ops"), "-d", str(tmp_path / "-".join(flags)), *flags]) == 0


def test_a_source_without_the_macro_does_not_compile(built: Path, tmp_path: Path) -> None:
    source = tmp_path / "kernels.cpp"
    source.write_text("#include <portable/Kernels.h>\n")
    generated = built.parent / "generated"
    if not generated.is_dir():
        pytest.skip("the binary comes from elsewhere")
    done = subprocess.run(
        ["c++", "-fsyntax-only", f"-I{generated}", source], capture_output=True, text=True, check=False
    )
    assert "compile with -DTORCH_TARGET_VERSION=0x020a000000000000ULL" in done.stderr
