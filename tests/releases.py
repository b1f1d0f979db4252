"""One release of torch → `examples/rational`, built, loaded and tested with it, in an environment of its own.

    python -m tests.releases 2.14.1                 makes the environment, builds, runs the tests, and removes it
    python -m tests.releases 2.14.1 --keep FOLDER   keeps all of it in FOLDER, and goes on from what is there

Most wheels of torch are for CUDA, without whose toolkit CMake doesn't find torch; so the extension is built as a
setup.py does it, with `opgen.cpp_extension`. Nothing of CUDA is built, and no GPU is needed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.fetch import TORCH_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY: Final = Path(__file__).resolve().parents[1]
EXAMPLE: Final = REPOSITORY / "examples" / "rational"
REQUIREMENTS: Final = ("expecttest", "hypothesis", "mypy", "ninja", "numpy", "pytest", "pytest-xdist", "setuptools")
"""What the build and the tests need beside torch and opgen."""
TESTS: Final = ("test_rational.py", "test_rational_gradients.py", "test_python.py")
RATIONAL_VARIABLE: Final = "OPGEN_TEST_RATIONAL"
"""Names the folder of an extension that is built already, for the tests of `tests/extension`."""

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


def test_release(version: str, folder: Path) -> int:
    """Build and test the example with a release of torch; returns the tests' exit code.

    Args:
        version: The release, such as `2.14.1`.
        folder: Where the environment and the build go; what is there already is used.

    Raises:
        CalledProcessError: The environment can't be made, or the example can't be built.
    """
    python = make_environment(version, folder / "environment")
    build = folder / "build"
    started = time.monotonic()
    build_example(python, build)
    print(f"torch {version}: built in {time.monotonic() - started:.0f} s", flush=True)
    paths = [os.fspath(REPOSITORY / "tests" / "extension" / name) for name in TESTS]
    command = [os.fspath(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", *paths]
    return subprocess.run(
        command, cwd=REPOSITORY, env=_environment({RATIONAL_VARIABLE: str(build)}), check=False
    ).returncode


def make_environment(version: str, folder: Path) -> Path:
    """Make a virtual environment with a release of torch, and return its interpreter."""
    python = folder / "bin" / "python"
    if not python.exists():
        _run([sys.executable, "-m", "venv", folder])
    installed = subprocess.run(
        [python, "-c", f"import torch; assert torch.__version__.startswith('{version}')"], check=False
    )
    if installed.returncode == 0:
        return python
    install = [os.fspath(python), "-m", "pip", "install", "--quiet", f"torch=={version}"]
    if subprocess.run(install, check=False).returncode:
        # A configuration of pip may cap the newest release.
        _run(install, {"PIP_CONFIG_FILE": os.devnull})
    _run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS, "PyYAML", "typing_extensions"])
    return python


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


def _run(command: Sequence[str | os.PathLike[str]], variables: Mapping[str, str] | None = None) -> None:
    subprocess.run(command, cwd=REPOSITORY, env=_environment(variables or {}), check=True)


def _environment(variables: Mapping[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.fspath(REPOSITORY), **variables}


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; the exit code is that of the tests."""
    parser = argparse.ArgumentParser(prog="python -m tests.releases", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("version", metavar="VERSION", help=f"a release of torch, such as {', '.join(TORCH_VERSIONS)}")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep the environment and the build")
    options = parser.parse_args(arguments)
    if options.keep is not None:
        return test_release(options.version, options.keep.resolve())
    folder = Path(tempfile.mkdtemp(prefix=f"torch-{options.version}-"))
    try:
        return test_release(options.version, folder)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
