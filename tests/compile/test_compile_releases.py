"""One generated tree of `examples/rational`, through the compiler's front end with the headers of each release.

The headers are those of the wheels in the test cache. The installed torch isn't among them: the tests of
`tests/extension` build with it. All sources are one, as headers take nearly all of the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final

import pytest

from tests.compilers import QUICK
from tests.fetch import TORCH_VERSIONS, resource
from tests.sharing import Share

ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLE: Final = ROOT / "examples" / "rational"
SOURCES: Final = (
    *("CompositeKernels.cpp", "Operators.cpp", "RegisterADInplaceOrView.cpp", "RegisterAutogradFallback.cpp"),
    *("RegisterBatched.cpp", "RegisterCPU.cpp", "RegisterFuncTorchBatched.cpp", "RegisterFunctionalize.cpp"),
    *("RegisterSchema.cpp", "PythonBindings.cpp", "RegisterDerivatives.cpp"),
)
"""They can be one, if headers come before the first of them brings names of torch's."""
INSTALLED: Final = "2.13.0"
OTHERS: Final = tuple(version for version in TORCH_VERSIONS if version != INSTALLED)


@pytest.fixture(scope="module")
def generated(share: Share) -> Path:
    """The sources of the extension, generated once."""
    return share.folder("rational-sources", _generate)


def _generate(folder: Path) -> None:
    command = [sys.executable, "-m", "opgen", "gen", "--extension", "--quiet", "-s", str(EXAMPLE / "ops"), "-d", "."]
    subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)


@pytest.mark.parametrize("version", OTHERS)
def test_compiles_with_the_headers_of_a_release(version: str, generated: Path, tmp_path: Path) -> None:
    headers = resource(f"torch-{version}") / "torch" / "include"
    whole = tmp_path / "whole.cpp"
    included = [*sorted((generated / "rational" / "detail").glob("*.h")), *(generated / source for source in SOURCES)]
    whole.write_text("".join(f'#include "{path}"\n' for path in included), encoding="utf-8")
    folders = (generated, EXAMPLE / "src", headers, headers / "torch/csrc/api/include", sysconfig.get_path("include"))
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-w", QUICK]
    command += [f"-I{folder}" for folder in folders]
    done = subprocess.run([*command, str(whole)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.fail(f"torch {version}:\n{done.stderr[:6000]}", pytrace=False)
