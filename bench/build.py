"""What building extensions costs beside a hand-written one, in one run on this machine.

    python -m bench.build [--rounds 3] [--only handwritten project …]

Each round builds, one after the other and from nothing:

    handwritten   `bench/handwritten/scaled_add.cpp`, compiled and linked by one call of g++ at -O3
    project       what `opgen new` lays out, with a derivative: CMake, the generator, compilers and linkers
    setuptools    the same project with `setup.py build_ext`
    rational      `examples/rational`, with CMake

A figure is the median of the rounds.  Wall time means something only while nothing else runs.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from types import MappingProxyType
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parents[1]
HANDWRITTEN: Final = Path(__file__).with_name("handwritten") / "scaled_add.cpp"
JOBS: Final = "2"

DERIVATIVE: Final = """\
- name: scaled_add(Tensor self, Tensor other, *, float scale=1.0) -> Tensor
  self: grad
  other: grad * scale
  result: self_t + other_t * scale
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a build took, in seconds."""

    wall: float
    processor: float


def run(command: Sequence[str | os.PathLike[str]], folder: Path) -> None:
    """Run a command in a folder; end the program with all that the command said if it fails."""
    environment = {**os.environ, "PYTHONPATH": os.fspath(REPOSITORY), "MAX_JOBS": JOBS, "CCACHE_DISABLE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}")


def build_handwritten(folder: Path) -> None:
    """Compile and link the hand-written source."""
    spec = find_spec("torch")
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit("bench.build needs torch: python -m pip install torch")
    torch = Path(spec.submodule_search_locations[0])
    includes = [f"-isystem{torch / 'include'}", f"-isystem{sysconfig.get_paths()['include']}"]
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-fPIC", "-shared", *includes]
    libraries = [f"-L{torch / 'lib'}", "-ltorch", "-ltorch_cpu", "-lc10"]
    run(["g++", *flags, HANDWRITTEN, "-o", folder / "handwritten.so", *libraries], folder)


def lay_out_project(folder: Path) -> Path:
    """Lay out the project of `opgen new`, and give its operator a derivative."""
    project = folder / "mylib"
    run([sys.executable, "-m", "opgen", "new", "mylib", "--into", project], folder)
    derivatives = project / "ops" / "autograd" / "derivatives.yaml"
    derivatives.parent.mkdir(exist_ok=True)
    derivatives.write_text(DERIVATIVE)
    return project


def build_with_cmake(project: Path, folder: Path) -> None:
    """Configure and build a project."""
    settings = {"opgen_DIR": REPOSITORY / "opgen" / "cmake", "Python_EXECUTABLE": sys.executable}
    flags = [f"-D{name}={value}" for name, value in settings.items()]
    run(["cmake", "-G", "Ninja", "-S", project, "-B", folder / "build", *flags], folder)
    run(["cmake", "--build", folder / "build", "--parallel", JOBS], folder)


def build_project(folder: Path) -> None:
    """Build the project of `opgen new` with CMake."""
    build_with_cmake(lay_out_project(folder), folder)


def build_with_setuptools(folder: Path) -> None:
    """Build the project of `opgen new` with setuptools."""
    run([sys.executable, "setup.py", "build_ext"], lay_out_project(folder))


def build_rational(folder: Path) -> None:
    """Build the example with 18 operators."""
    source = folder / "rational"
    shutil.copytree(REPOSITORY / "examples" / "rational", source, ignore=shutil.ignore_patterns("build*"))
    build_with_cmake(source, folder)


BUILDS: Final[Mapping[str, Callable[[Path], None]]] = MappingProxyType(
    {
        "handwritten": build_handwritten,
        "project": build_project,
        "setuptools": build_with_setuptools,
        "rational": build_rational,
    }
)


def measure(build: Callable[[Path], None]) -> Cost:
    """Build once in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="opgen-build-") as folder:
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        build(Path(folder))
        wall, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="bench.build", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=list(BUILDS), default=list(BUILDS), metavar="BUILD")
    given = parser.parse_args(arguments)
    costs: dict[str, list[Cost]] = {name: [] for name in BUILDS if name in given.only}
    for _ in range(given.rounds):
        for name, measured in costs.items():
            measured.append(measure(BUILDS[name]))
    print(f"{'median of ' + str(given.rounds):<14} {'processor':>12} {'wall':>10}")
    middle = {
        name: Cost(median(c.wall for c in each), median(c.processor for c in each)) for name, each in costs.items()
    }
    first = next(iter(middle.values()))
    for name, cost in middle.items():
        ratios = f"{cost.processor / first.processor:8.2f} {cost.wall / first.wall:8.2f}"
        print(f"{name:<14} {cost.processor:10.1f} s {cost.wall:8.1f} s {ratios}")


if __name__ == "__main__":
    main()
