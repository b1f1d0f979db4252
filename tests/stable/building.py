"""Builds `tests/stable/library` in torch's stable ABI as a setup.py does.

python -m tests.stable.building FOLDER      the package is in FOLDER/python
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

LIBRARY: Final = Path(__file__).with_name("library")
OLDEST: Final = "2.10"
ROOT: Final = LIBRARY.parents[2]

_SETUP: Final = """
import os, sys
from pathlib import Path
from setuptools import setup
from opgen.cpp_extension import generated_package

library, folder, oldest = Path(sys.argv.pop(1)), Path(sys.argv.pop(1)), sys.argv.pop(1)
package = generated_package(
    "portable", library / "ops", [str(library / "src" / "kernels.cpp")], output=folder / "generated", stable_abi=oldest,
    extra_compile_args={"cxx": ["-std=c++20", "-O0", "-g0", "-w"]},
)
os.chdir(folder)
setup(name="portable", version="1", script_args=["build", "--build-lib", "python"], **package)
"""
"""A setup.py."""


def build(folder: Path) -> Path:
    """Build the library in a folder; return the folder that its package is in.

    Raises RuntimeError with all that the build said if it fails.
    """
    command = [sys.executable, "-c", _SETUP, os.fspath(LIBRARY), os.fspath(folder.resolve()), OLDEST]
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{done.stdout[-6000:]}\n{done.stderr[-6000:]}")
    return folder / "python"


if __name__ == "__main__":
    print(build(Path(sys.argv[1])))
