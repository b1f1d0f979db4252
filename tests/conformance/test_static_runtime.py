"""torchgen's static runtime generator beside ours: the same tokens, over several sets of definitions.

Of torch's definitions, what we write is compiled against torch's headers too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest

from opgen import gen_static_runtime
from opgen.dest.static_runtime_names import HAND_WRITTEN, LEFT_OUT, NOT_RESIZED
from opgen.run.inputs import packaged_folder
from tests.compilers import QUICK
from tests.conformance.compare import compare_trees
from tests.conformance.flagsets import DEFINITIONS
from tests.conformance.runs import run_command

HERE: Final = Path(__file__).resolve().parent
ORACLE: Final = "tests.conformance.static_runtime_oracle"


@pytest.fixture(scope="module", params=["torch", "packaged", "edge", "static_runtime"])
def source(request: pytest.FixtureRequest, torch_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of definitions."""
    if request.param == "torch":
        return torch_source
    if request.param == "packaged":
        return packaged_folder("ATen")
    folder = tmp_path_factory.mktemp(request.param)
    shutil.copytree(DEFINITIONS / request.param, folder, dirs_exist_ok=True)
    if not (folder / "native" / "tags.yaml").exists():
        shutil.copy(torch_source / "native" / "tags.yaml", folder / "native")
    return folder


def test_writes_what_torchgen_writes(source: Path, tmp_path: Path) -> None:
    run = run_command([sys.executable, "-m", ORACLE, str(source), str(tmp_path / "expected")], tmp_path)
    assert run.code == 0, run.err
    ours = tmp_path / "actual"
    assert gen_static_runtime.main(["--quiet", "--source-path", str(source), "--install-dir", str(ours)]) == 0
    report = compare_trees(tmp_path / "expected", ours)
    assert report.compared == 2
    assert report.is_same, report.render()


def test_names_are_those_that_torchgen_knows() -> None:
    config = pytest.importorskip("torchgen.static_runtime.config")
    generator = pytest.importorskip("torchgen.static_runtime.generator")
    assert config.is_hand_written_ops_ == HAND_WRITTEN
    assert generator.BLOCKED_OPS == LEFT_OUT
    assert generator.no_memory_resize_ops == NOT_RESIZED


def test_torchs_headers_take_it(tmp_path: Path) -> None:
    """The operators of torch; the tests need torch's own test library, which isn't installed with it."""
    compiler, spec = shutil.which(os.environ.get("CXX", "g++")), find_spec("torch")
    if compiler is None or spec is None or not spec.submodule_search_locations:
        pytest.fail("needs torch and a C++20 compiler: g++, or the one that CXX names", pytrace=False)
    assert gen_static_runtime.main(["--quiet", "--from-torch", "--install-dir", str(tmp_path)]) == 0
    include = Path(spec.submodule_search_locations[0]) / "include"
    flags = ("-std=c++20", "-w", QUICK, "-fsyntax-only", "-DCPU_CAPABILITY=DEFAULT", "-DCPU_CAPABILITY_DEFAULT")
    command = [compiler, *flags, f"-I{include}", str(tmp_path / "generated_ops.cpp")]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.fail(done.stderr[:4000], pytrace=False)
