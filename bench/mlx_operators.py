"""Compares an operator of MLX that opgen generates with the same one written by hand (bench/mlx_by_hand).

    python -m bench.mlx_operators        lines, seconds of processor time to build, microseconds a call

It needs the environment that `python -m tests.fetch mlx-0.32.0` makes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from tests.fetch import MLX, cache_folder

REPOSITORY: Final = Path(__file__).resolve().parents[1]
BY_HAND: Final = REPOSITORY / "bench" / "mlx_by_hand"
CODE: Final = frozenset({".h", ".cpp", ".yaml", ".txt"})


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(*command: str | Path, paths: Iterable[Path] = ()) -> str:
    clean = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    environment = {**clean, "PYTHONPATH": os.pathsep.join(map(str, [*paths, REPOSITORY]))}
    words = [str(word) for word in command]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def _lines(folder: Path) -> int:
    """The lines that somebody wrote, without comments and blank ones."""
    texts = [path.read_text(encoding="utf-8") for path in folder.rglob("*") if path.suffix in CODE]
    lines = [line.strip() for text in texts for line in text.splitlines()]
    return sum((bool(line) and not line.startswith(("//", "#"))) or line.startswith("#include") for line in lines)


def _measure(name: str, source: Path, build: Path, package: Path, python: Path) -> Mapping[str, float]:
    lines = _lines(source)
    cmake = f"-Dopgen_DIR={REPOSITORY / 'opgen' / 'cmake'}"
    before = _processor_seconds()
    _run("cmake", "-S", source, "-B", build, cmake, f"-DPython_EXECUTABLE={python}")
    configured = _processor_seconds()
    _run("cmake", "--build", build)
    built = _processor_seconds()
    calls: Mapping[str, float] = json.loads(_run(python, REPOSITORY / "bench" / "mlx_calls.py", name, paths=[package]))
    return {
        "lines written": lines,
        "seconds to configure": configured - before,
        "seconds to build": built - configured,
        **{f"µs: {label}": microseconds for label, microseconds in calls.items()},
    }


def main() -> None:
    python = cache_folder() / MLX / "bin" / "python"
    if not python.exists():
        sys.exit(f"run 'python -m tests.fetch {MLX}' first")
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        project = folder / "generated"
        _run(sys.executable, "-m", "opgen", "new", "generated", "--mlx", "--into", project)
        build = folder / "generated-build"
        generated = _measure("generated", project, build, build / "python", python)
        build = folder / "by-hand-build"
        by_hand = _measure("by_hand", BY_HAND, build, build, python)
    print(f"{'':<34}{'generated':>12}{'by hand':>12}")
    for label, value in generated.items():
        print(f"{label:<34}{value:>12.1f}{by_hand[label]:>12.1f}")


if __name__ == "__main__":
    main()
