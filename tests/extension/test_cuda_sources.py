"""What an extension has for CUDA compiles where there is a CUDA compiler: no GPU is needed for that.

Kernels and generated kernels are compiled to PTX, which is all of the device's side. Registrations are C++, for which
nvcc only adds CUDA's headers. The libraries that torch's headers name (cuBLAS and others) need not be there.
"""

from __future__ import annotations

import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from opgen import gen

NVCC: Final = shutil.which("nvcc")
ROOT: Final = Path(__file__).resolve().parents[2]
EXAMPLE: Final = ROOT / "examples" / "rational"
STUBS: Final = ROOT / "tests" / "compile" / "cuda_stubs"
DEVICE_FLAGS: Final = ("-ptx", "-arch=sm_80", "--expt-relaxed-constexpr", "--expt-extended-lambda")

pytestmark = pytest.mark.skipif(NVCC is None, reason="needs nvcc, CUDA's compiler")


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rational")
    assert gen.main(["--quiet", "--source-path", str(EXAMPLE / "ops"), "--install-dir", str(folder)]) == 0
    return folder


def test_kernels(generated: Path, tmp_path: Path) -> None:
    """Those that are written and those that are made, in one file: torch's headers take most of the time."""
    both = tmp_path / "both.cu"
    sources = (EXAMPLE / "src" / "kernels.cu", generated / "UfuncCUDA_blend.cu")
    both.write_text("".join(f'#include "{source}"\n' for source in sources), encoding="utf-8")
    output = tmp_path / "both.ptx"
    _compile(generated, both, *DEVICE_FLAGS, "-o", str(output))
    code = output.read_text(encoding="utf-8")
    assert "CUDAFunctor_blend" in code
    assert code.count(".entry") > 20


def test_registrations(generated: Path, tmp_path: Path) -> None:
    flags = ("-Xcompiler", "-fsyntax-only", "-c", "-o", str(tmp_path / "output"))
    _compile(generated, generated / "RegisterCUDA.cpp", *flags)


def _compile(generated: Path, source: Path, *flags: str) -> None:
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        pytest.fail("torch isn't installed: pip install -e '.[test]'", pytrace=False)
    include = Path(spec.submodule_search_locations[0]) / "include"
    folders = (generated, EXAMPLE / "src", include, include / "torch" / "csrc" / "api" / "include")
    # The stubs stand behind all others, so that what is installed is found first.
    stubs = ("-Xcompiler", f"-idirafter,{STUBS}")
    command = [str(NVCC), "-std=c++20", "-w", *(f"-I{folder}" for folder in folders), *stubs, *flags, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.fail(f"{' '.join(command)}\n{done.stderr[:4000]}", pytrace=False)
