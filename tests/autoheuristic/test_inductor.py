"""Measurements that torch collects → a heuristic → what torch's own selection, and its compiler, do with it."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from opgen.autoheuristic.loading import use
from tests.autoheuristic.trained import log_text, train

PROGRAMS: Final = Path(__file__).parent / "programs"


def _run(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, **environment},
        check=False,
    )


def _collect(log: Path, cache: Path, count: int, code: int) -> subprocess.CompletedProcess[str]:
    program = [PROGRAMS / "measure.py", cache, count, code]
    return _run("-m", "opgen", "autoheuristic", "collect", "--name", "toy", "--log", log, *program)


def test_what_torch_measures_decides_what_torch_picks(tmp_path: Path) -> None:
    """Collection, training and selection, each by torch's own code and on the CPU."""
    log = tmp_path / "logs" / "toy.txt"
    log.parent.mkdir()
    log.write_text(log_text([], "m,n,choice,feedback", numerical_features=["m", "n"], categorical_features=[]))
    # torch appends to the log; the exit code is the program's.
    done = _collect(log, tmp_path, 100, code=3)
    assert (done.returncode, done.stderr) == (3, "")
    lines = log.read_text().splitlines()
    assert json.loads(lines[0])["shared_memory"] == 0
    assert lines[1] == "m,n,choice,feedback"
    assert len(lines) == 2 + 2 * 100
    swap = {"small": "large", "large": "small"}
    swapped = [",".join(swap.get(field, field) for field in line.split(",")) for line in lines[2:]]
    train(tmp_path, log.read_text(), "--combine", "m*n")
    opposite = tmp_path / "opposite"
    opposite.mkdir()
    train(opposite, "\n".join([*lines[:2], *swapped]) + "\n", "--combine", "m*n")
    done = _run(PROGRAMS / "choose.py", tmp_path / "out", opposite / "out")
    assert done.stdout.splitlines() == [
        "fallback fallback fallback",
        "toy",
        "small small large",
        "toy True",
        "large large small",
    ], done.stderr


def _pad_log() -> str:
    """Measurements that say: pad products with more than about 700 rows."""
    draw = random.Random(0)
    numbers = ["m", "k", "n", "mat1_stride_0", "mat1_stride_1", "mat2_stride_0", "mat2_stride_1"]
    numbers += ["m_padded_length", "k_padded_length", "n_padded_length", "mat1_align_size", "mat2_align_size"]
    texts = ["mat1_dtype", "mat2_dtype", "prepadded_mat1", "prepadded_mat2", "using_tf32"]
    rows = []
    for _ in range(60):
        m, k, n = (draw.choice([*range(64, 160), *range(190, 300)]) * 4 + 1 for _ in range(3))
        values = f"{m},{k},{n},{k},1,{n},1,3,3,3,4,4,torch.float32,torch.float32,False,False,False"
        rows += [f"{values},orig,2", f"{values},pad,{1 if m > 700 else 4}"]
    columns = ",".join([*numbers, *texts, "choice", "feedback"])
    return log_text(rows, columns, name="pad_mm", numerical_features=numbers, categorical_features=texts)


def test_a_compiled_function_follows_the_heuristic(tmp_path: Path) -> None:
    """The small product is left alone and the large one is padded, as the measurements say."""
    train(tmp_path, _pad_log(), "--depth", "2", "--leaf-size", "2", name="Padding")
    environment = {
        "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache"),
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCHINDUCTOR_VEC_ISA_OK": "1",
    }
    done = _run(PROGRAMS / "compile_matmul.py", tmp_path / "out", **environment)
    assert done.stdout.splitlines() == ["pad_mm", "False True"], done.stderr


def test_folders_without_heuristics_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="has no heuristics"):
        use(tmp_path)


def test_collect_needs_no_torch_before_the_program_does(tmp_path: Path) -> None:
    """The program sees Python's usual surroundings; nothing was measured, which is an error."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, pathlib\n"
        "assert 'torch' not in sys.modules\n"
        "assert sys.path[0] == str(pathlib.Path(__file__).parent)\n"
        "assert sys.argv == [__file__, '--name', 'x']\n"
    )
    command = ["-m", "opgen", "autoheuristic", "collect", "--name", "mm", "--log", tmp_path / "a" / "b" / "mm.txt"]
    done = _run(*command, program, "--name", "x")
    assert done.returncode == 1
    assert "[nothing-collected]" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "a").exists()
