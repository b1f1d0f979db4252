"""Builds operators of MLX with setuptools, in a setup.py.

    from opgen.mlx_extension import mlx_package
    from setuptools import setup

    setup(**mlx_package("mylib"))

The build uses CMake, like `mlx.extension`: the project's CMakeLists.txt calls `opgen_mlx_extension(mylib …)`.
mlx and setuptools are imported on demand, since opgen itself needs neither.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any, Final

__all__ = ["mlx_package"]

_CMAKE_FOLDER: Final = Path(__file__).resolve().parent / "cmake"


def mlx_package(name: str, source_dir: str | os.PathLike[str] = ".") -> dict[str, Any]:
    """Return the arguments of `setup()` that build and install the Python package of operators.

    `name` is the name that `opgen_mlx_extension` gets in the CMakeLists.txt of `source_dir`.  The package has the
    module `_ext`, its stubs, and the marker `py.typed`.
    """
    extension = importlib.import_module("mlx.extension")

    class Build(extension.CMakeBuild):  # type: ignore[name-defined, misc]
        """Tells CMake where opgen and Python are."""

        def build_extension(self, ext: Any) -> None:
            # CMake searches for the package `opgen` in the folder in this variable.
            os.environ.update({"opgen_DIR": os.fspath(_CMAKE_FOLDER), "OPGEN_PYTHON": sys.executable})
            super().build_extension(ext)

    return {
        "ext_modules": [extension.CMakeExtension(f"{name}._ext", sourcedir=os.fspath(source_dir))],
        "cmdclass": {"build_ext": Build},
        "packages": [],
        "zip_safe": False,
    }
