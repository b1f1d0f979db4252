"""`opgen new --stable-abi`: new projects build in seconds and pass their tests; what a package is to others.

It is what docs/how-to/stable-abi.md describes.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

from opgen import __main__ as opgen
from opgen import gen
from tests.extension.building import require_tools, run
from tests.fetch import WHEEL_TOOLS, resource
from tests.sharing import Share
from tests.stable.building import LIBRARY

torch = pytest.importorskip("torch")

SECONDS = 15
"""Processor time that a build of a new project may take."""


def _processor_seconds() -> float:
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.fixture(scope="session")
def project(session_folder: Path) -> Path:
    """A new project, built by CMake and then by pip into a wheel; `seconds` says how long the first took."""
    require_tools("ninja")
    return Share(session_folder).folder("stable-project", _build_project)


def _build_project(project: Path) -> None:
    assert opgen.main(["new", "mylib", "--stable-abi", "--into", str(project)]) == 0
    folder = run([sys.executable, "-m", "opgen", "--cmake-dir"], project).strip()
    before = _processor_seconds()
    settings = [f"-Dopgen_DIR={folder}", f"-DPython_EXECUTABLE={sys.executable}", "-DCMAKE_CXX_COMPILER_LAUNCHER="]
    said = run(["cmake", "-G", "Ninja", "-S", project, "-B", project / "build", *settings], project)
    run(["cmake", "--build", project / "build"], project)
    (project / "seconds").write_text(str(_processor_seconds() - before))
    assert "warning" not in said
    assert "ninja: no work to do." in run(["cmake", "--build", project / "build"], project)
    # What is built already isn't built again, so this takes few seconds.
    pip = [sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index"]
    run([*pip, "-C", "build-dir=build", "-w", "dist", "."], project, PYTHONPATH=str(resource(WHEEL_TOOLS)))


def test_new_project_builds_in_seconds_and_passes_its_tests(project: Path, tmp_path: Path) -> None:
    assert float((project / "seconds").read_text()) < SECONDS
    assert "4 passed" in run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], project)

    run(["cmake", "--install", project / "build", "--prefix", tmp_path / "site"], project)
    assert sorted(path.name for path in (tmp_path / "site" / "mylib").glob("*.so")) == ["_C.abi3.so", "libmylib.so"]
    program = "import mylib, torch; assert mylib.scaled_add(torch.ones(2), torch.ones(2), scale=3).tolist() == [4, 4]"
    run([sys.executable, "-c", program], tmp_path, PYTHONPATH=str(tmp_path / "site"))


MODULES = ("_C.pyi", "__init__.py", "_derivatives.py", "_functions.py", "_functions.pyi", "_registrations.py")


@pytest.mark.skipif(sys.platform != "linux", reason="the names of other systems' libraries differ")
def test_pip_makes_one_wheel_for_every_python(project: Path, tmp_path: Path) -> None:
    """It is the package and nothing else, and runs in an environment that has torch and no opgen."""
    (wheel,) = (project / "dist").iterdir()
    platform_name = sysconfig.get_platform().replace("-", "_")
    assert wheel.name == f"mylib-0.1.0-cp310-abi3-{platform_name}.whl"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "wheel")
        names = sorted(name for name in archive.namelist() if ".dist-info/" not in name)
        metadata = archive.read("mylib-0.1.0.dist-info/METADATA").decode()
    libraries = ("_C.abi3.so", "libmylib.so")
    assert names == sorted(f"mylib/{name}" for name in (*MODULES, *libraries, "_support.py", "py.typed"))
    assert "Requires-Python: >=3.10\nRequires-Dist: torch>=2.10\n" in metadata
    for name in libraries:
        binary = tmp_path / "wheel" / "mylib" / name
        assert "no symbols" in subprocess.run(["nm", binary], capture_output=True, text=True, check=False).stderr
        assert not [path for path in (project, Path(torch.__file__).parent) if os.fsencode(path) in binary.read_bytes()]

    run([sys.executable, "-m", "venv", "--without-pip", "env"], tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    site = Path(run([python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"], tmp_path).strip())
    # One folder of packages can be another's; what they name in turn, such as opgen, isn't read.
    site.joinpath("torch.pth").write_text(f"{Path(torch.__file__).parents[1]}\n")
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    run([*pip, str(wheel)], tmp_path)
    tests = shutil.copytree(project / "tests", tmp_path / "tests")
    run([python, "-c", f"import mylib; assert mylib.__file__.startswith({str(site)!r})"], tmp_path, PYTHONPATH="")
    assert "4 passed" in run([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests], tmp_path, PYTHONPATH="")


@pytest.mark.skipif(sys.platform != "linux", reason="auditwheel is for Linux")
def test_settings_of_builds_in_ci(project: Path, tmp_path: Path) -> None:
    """cibuildwheel reads them; its own command for Linux makes a wheel that has no library of torch in it."""
    tools = resource(WHEEL_TOOLS)
    variables = {"PYTHONPATH": str(tools), "PATH": f"{tools / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    ask = ["-m", "cibuildwheel", "--print-build-identifiers", "--platform", "linux", "--archs", "x86_64", "."]
    versions = ("310", "311", "312", "313")
    assert run([sys.executable, *ask], project, **variables).split() == [
        f"cp{each}-manylinux_x86_64" for each in versions
    ]

    (command,) = re.findall(
        '^repair-wheel-command = "(auditwheel .*)"$', (project / "pyproject.toml").read_text(), re.M
    )
    (wheel,) = (project / "dist").iterdir()
    repair = command.format(dest_dir=tmp_path, wheel=wheel).split()
    run([sys.executable, "-m", *repair], project, **variables)
    (repaired,) = tmp_path.glob("mylib-0.1.0-cp310-abi3-manylinux_*.whl")
    with zipfile.ZipFile(repaired) as archive, zipfile.ZipFile(wheel) as original:
        assert {name for name in archive.namelist() if not name.endswith("/")} == set(original.namelist())


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
