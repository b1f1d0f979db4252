"""Releases of torch → what was built, loaded and tested with each, in an environment of its own.

    python -m tests.releases 2.14.1                 makes the environment, checks all, and removes it
    python -m tests.releases 2.14.1 --keep FOLDER   keeps all of it in FOLDER/2.14.1, and goes on from what is there
    python -m tests.releases 2.14.1 --check project
    python -m tests.releases 2.10.0 2.15.0 --check stable
    python -m tests.releases 2.14.1 --check stable --python python3.13

    example     `examples/rational`: built, loaded, and its tests
    project     the project that `opgen new` creates: built with CMake, and its test
    commands    `--version`, and each command that reads definitions, on the release's own, with `--torch-version`
    packaged    the definitions that come with opgen, against this torch; what other commands take from it
    stable      the library of `tests/stable`: built once, with the torch that this program runs with, which is 2.13;
                each environment runs the tests of that one binary

Most wheels of torch are for CUDA, without whose toolkit `find_package(Torch)` fails; opgen does without it. Nothing of
CUDA is built, and no GPU is needed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from tests.compilers import QUICK
from tests.fetch import TORCH_VERSIONS
from tests.stable.building import build as build_stable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

REPOSITORY: Final = Path(__file__).resolve().parents[1]
EXAMPLE: Final = REPOSITORY / "examples" / "rational"
REQUIREMENTS: Final = ("expecttest", "hypothesis", "mypy", "ninja", "numpy", "pytest", "pytest-xdist", "setuptools")
"""What the build and the tests need beside torch and opgen."""
BACKEND: Final = REPOSITORY / "tests" / "conformance" / "backends" / "supported.yaml"
EXAMPLE_TESTS: Final = ("test_rational.py", "test_rational_gradients.py", "test_python.py")
PACKAGED_TESTS: Final = (
    *(f"packaged/test_{name}.py" for name in ("definitions", "declarations", "derivatives", "templates")),
    *(f"conformance/test_{name}.py" for name in ("decompositions", "fuse", "mobile_upgraders")),
)
RATIONAL_VARIABLE: Final = "OPGEN_TEST_RATIONAL"
"""Names the folder of an extension that is built already, for the tests of `tests/extension`."""

STABLE_TESTS: Final = ("stable/test_library.py", "stable/test_project.py::test_the_library_alone_has_the_operators")
STABLE_VARIABLE: Final = "OPGEN_TEST_PORTABLE"
"""Names the folder of a package in the stable ABI that is built already, for the tests of `tests/stable`."""
_STABLE_HEADERS: Final = "2.13."
"""The release whose headers the one binary is compiled with."""

_BUILD: Final = """
import os, sys
from pathlib import Path
from setuptools import setup
from opgen.cpp_extension import generated_package

example, folder = Path(sys.argv.pop(1)), Path(sys.argv.pop(1))
sources = [str(example / "src" / name) for name in ("kernels.cpp", "derivatives.cpp")]
flags = ["-std=c++20", "-O0", "-g0", "-w"]
package = generated_package(
    "rational", example / "ops", sources, output=folder / "generated", include_dirs=[str(example / "src")],
    extra_compile_args={"cxx": flags},
)
os.chdir(folder)
setup(name="rational", version="1", script_args=["build", "--build-lib", "python"], **package)
"""
"""A setup.py."""


def test_release(environment: Environment, checks: Sequence[str]) -> bool:
    """Check a release of torch; return whether all passes.

    Raises:
        CalledProcessError: The environment can't be made, or something can't be built.
    """
    make_environment(environment)
    passed = True
    for check in checks:
        started = time.monotonic()
        good = CHECKS[check](environment)
        print(
            f"{environment.name}, {check}: {'passed' if good else 'FAILED'}, {time.monotonic() - started:.0f} s",
            flush=True,
        )
        passed &= good
    return passed


@dataclass(frozen=True)
class Environment:
    """Where one release of torch is checked."""

    version: str
    """The release, such as `2.14.1`."""
    interpreter: str
    """The Python that the environment is made with."""
    root: Path
    """The folder of all environments; what is there already is used."""

    @property
    def folder(self) -> Path:
        """Where the environment and the builds go."""
        is_own = self.interpreter == sys.executable
        return self.root / (self.version if is_own else f"{self.version}-{Path(self.interpreter).name}")

    @property
    def name(self) -> str:
        """What reports call it."""
        return f"torch {self.folder.name}"

    @property
    def python(self) -> Path:
        """The environment's interpreter."""
        return self.folder / "environment" / "bin" / "python"


def make_environment(environment: Environment) -> None:
    """Make a virtual environment with a release of torch."""
    python = environment.python
    if not python.exists():
        _run([environment.interpreter, "-m", "venv", python.parents[1]])
    installed = subprocess.run(
        [python, "-c", f"import torch; assert torch.__version__.startswith('{environment.version}')"], check=False
    )
    if installed.returncode == 0:
        return
    install = [os.fspath(python), "-m", "pip", "install", "--quiet", f"torch=={environment.version}"]
    if subprocess.run(install, check=False).returncode:
        # A configuration of pip may cap the newest release.
        _run(install, {"PIP_CONFIG_FILE": os.devnull})
    _run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS, "PyYAML", "typing_extensions"])


def build_example(python: Path, build: Path) -> None:
    """Build `examples/rational` into a folder that looks as CMake would have left it."""
    build.mkdir(parents=True, exist_ok=True)
    script = build / "setup.py"
    script.write_text(_BUILD, encoding="utf-8")
    _run([python, script, EXAMPLE, build], {"PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"})
    (native,) = (build / "python" / "rational").glob("_C*.so")
    library = build / "librational.so"
    if not library.is_symlink():
        # One file under both names: loaded twice, it would register its operators twice.
        library.symlink_to(native.relative_to(build))


def check_example(environment: Environment) -> bool:
    """Build, load and test `examples/rational`."""
    build = environment.folder / "build"
    build_example(environment.python, build)
    return _test(environment.python, [f"extension/{name}" for name in EXAMPLE_TESTS], {RATIONAL_VARIABLE: str(build)})


def check_project(environment: Environment) -> bool:
    """Lay out a project, build it with CMake, and run its test."""
    python, project = environment.python, environment.folder / "project"
    shutil.rmtree(project, ignore_errors=True)
    _run([python, "-m", "opgen", "new", "mylib", "--into", project])
    settings = {
        "opgen_DIR": REPOSITORY / "opgen" / "cmake",
        "Python_EXECUTABLE": python,
        "CMAKE_MAKE_PROGRAM": python.parent / "ninja",
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_CXX_FLAGS_DEBUG": f"-O0 {QUICK}",
    }
    flags = [f"-D{name}={value}" for name, value in settings.items()]
    _run(["cmake", "-G", "Ninja", "-S", project, "-B", project / "build", *flags])
    _run(["cmake", "--build", project / "build", "--parallel", "2"])
    return _is_done([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", project], {}, cwd=project)


def check_commands(environment: Environment) -> bool:
    """Run each command on the release's own definitions, with the flag if it reads any."""
    python = environment.python
    ask = "import torch, torchgen; print(torch.__version__, torchgen.__path__[0])"
    version, place = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.split()
    packaged, out = Path(place) / "packaged", environment.folder / "written"
    native, flags = packaged / "ATen" / "native", ["--torch-version", version]
    inputs = [native / "native_functions.yaml", native / "tags.yaml", out, packaged / "autograd"]
    own: list[str | Path] = ["-s", EXAMPLE / "ops"]
    commands: list[list[str | Path]] = [
        ["gen", "-d", out / "gen"],
        ["gen", *own, "-d", out / "extension"],
        ["gen", "--from-torch", "-d", out / "gen", "--aoti-install-dir", out / "aoti", "--update-aoti-c-shim"],
        ["check_aoti_c_shim", "--from-torch", out / "aoti"],
        *([command, "--from-torch", "-d", out / "gen"] for command in ("gen", "check")),
        ["list", *own],
        ["explain", "--from-torch", "aten::add.Tensor"],
        *([command, *inputs] for command in ("gen_autograd", "gen_python", "gen_pyi", "gen_annotated_fn_args")),
        *([command, "--from-torch", "-d", out / command] for command in ("gen_static_runtime", "gen_unboxing")),
        ["gen_backend_stubs", "--from-torch", "-s", BACKEND, "-o", out / "backend"],
    ]
    others: list[list[str | Path]] = [
        ["schema", *own],
        *([command, "-d", out / command] for command in ("decompositions", "gen_mobile_upgraders", "fuse")),
        ["import", "--from-ops", "prims", "-d", out / "import"],
    ]
    quiet = [*([*command, *flags] for command in commands), *others]
    started: list[list[str | Path]] = [["--version"], *([*command, "--quiet"] for command in quiet)]
    done = [_is_done([python, "-m", "opgen", *command], {}, stdout=subprocess.DEVNULL) for command in started]
    return all(done)


def check_packaged(environment: Environment) -> bool:
    """Hold against the release what opgen knows of torch's operators."""
    return _test(environment.python, PACKAGED_TESTS)


def check_stable(environment: Environment) -> bool:
    """Run the tests of the one binary in torch's stable ABI, which is built if no check before has built it."""
    package = environment.root / "stable" / "python"
    if not package.is_dir():
        with_torch = importlib.metadata.version("torch")
        if not with_torch.startswith(_STABLE_HEADERS):
            raise SystemExit(
                f"run this with torch {_STABLE_HEADERS}*, whose headers the binary is for, not {with_torch}"
            )
        build_stable(package.parent)
    (binary,) = (package / "portable").glob("_C.abi3.*")
    print(f"{environment.name}: {binary}, SHA-256 {hashlib.sha256(binary.read_bytes()).hexdigest()}", flush=True)
    return _test(environment.python, STABLE_TESTS, {STABLE_VARIABLE: os.fspath(package)})


CHECKS: Final[Mapping[str, Callable[[Environment], bool]]] = MappingProxyType(
    {
        "example": check_example,
        "project": check_project,
        "commands": check_commands,
        "packaged": check_packaged,
        "stable": check_stable,
    }
)


def _test(python: Path, tests: Sequence[str], variables: Mapping[str, str] = MappingProxyType({})) -> bool:
    paths = [REPOSITORY / "tests" / name for name in tests]
    return _is_done([python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", *paths], variables)


def _is_done(
    command: Sequence[str | os.PathLike[str]],
    variables: Mapping[str, str],
    cwd: Path = REPOSITORY,
    stdout: int | None = None,
) -> bool:
    done = subprocess.run(command, cwd=cwd, env=_environment(variables), stdout=stdout, check=False)
    if done.returncode:
        print(f"exit code {done.returncode}: {' '.join(map(str, command))}", flush=True)
    return done.returncode == 0


def _run(command: Sequence[str | os.PathLike[str]], variables: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, cwd=REPOSITORY, env=_environment(variables or {}), check=True)


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.fspath(REPOSITORY), **variables}


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; the exit code is 1 if anything fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.releases", description=(__doc__ or "").partition("\n")[0])
    known = ", ".join(TORCH_VERSIONS)
    parser.add_argument("versions", nargs="+", metavar="VERSION", help=f"a release of torch, such as {known}")
    parser.add_argument("--check", nargs="+", choices=CHECKS, default=tuple(CHECKS), help="what to check; default: all")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep the environments and the builds")
    parser.add_argument(
        "--python", default=sys.executable, metavar="PROGRAM", help="the Python of the environments; default: this one"
    )
    options = parser.parse_args(arguments)
    root = Path(tempfile.mkdtemp(prefix="torch-")) if options.keep is None else options.keep.resolve()
    try:
        environments = [Environment(version, options.python, root) for version in options.versions]
        passed = [test_release(environment, options.check) for environment in environments]
    finally:
        if options.keep is None:
            shutil.rmtree(root)
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
