"""How long torchgen and opgen take for the same work on the same machine, and how much memory.

    python bench/compare.py [--pairs 5] [--flags=--per-operator-headers]

They run in turn, so that whatever else the machine does meets both. Three kinds of run:

    cold        into an empty folder
    unchanged   again, with nothing changed
    one added   again, with one more operator in a copy of the definitions, another one each time

Wall time is what a user waits; CPU time (user and system) is steadier on a busy machine.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY: Final = Path(__file__).resolve().parents[1]
TOOLS: Final = ("torchgen", "opgen")
KINDS: Final = ("cold", "unchanged", "one added")
DEFINITIONS: Final = Path("native", "native_functions.yaml")
ADDED: Final = """
- func: bench_added_{number}(Tensor self, Scalar alpha=1) -> Tensor
  variants: function, method
  dispatch:
    CompositeExplicitAutograd: bench_added_{number}
  autogen: bench_added_{number}.out
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """What one run took."""

    wall_s: float
    cpu_s: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class Bench:
    """Folders and arguments of a series of runs."""

    root: Path
    source: Path
    flags: tuple[str, ...]

    def run(self, tool: str, install_dir: Path, source: Path) -> Sample:
        """Run a tool in a process of its own and measure it."""
        shims = install_dir.parent / f"{install_dir.name}.shims"
        places = ["-s", str(source), "-d", str(install_dir), "--aoti-install-dir", str(shims)]
        command = [sys.executable, "-m", f"{tool}.gen", *places, *self.flags]
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
        log = self.root / f"{tool}.log"
        with log.open("w", encoding="utf-8") as output:
            start = time.perf_counter()
            process = subprocess.Popen(command, cwd=self.root, env=environment, stdout=output, stderr=output)
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - start
        # The process is already collected: tell its object so.
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}\nfailed:\n{log.read_text(encoding='utf-8')}")
        unit = 1024 if sys.platform == "darwin" else 1
        return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024 / unit)

    def pair(self, number: int) -> dict[tuple[str, str], Sample]:
        """One run of each kind by each tool; who goes first alternates."""
        order = TOOLS if number % 2 == 0 else tuple(reversed(TOOLS))
        samples = {}
        copy = self._copy()
        for kind in KINDS:
            if kind == "one added":
                with (copy / DEFINITIONS).open("a", encoding="utf-8") as file:
                    file.write(ADDED.format(number=number))
            for tool in order:
                install_dir = self.root / tool
                if kind == "cold":
                    shutil.rmtree(install_dir, ignore_errors=True)
                samples[kind, tool] = self.run(tool, install_dir, copy)
        return samples

    def _copy(self) -> Path:
        """A copy of the definitions and templates, made a moment ago."""
        target = self.root / "definitions"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.source, target)
        time.sleep(0.1)
        return target


def installed_definitions() -> Path:
    """The definitions and templates that come with the installed torch."""
    spec = importlib.util.find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        sys.exit("torch isn't installed: pip install -e '.[test]'")
    return Path(spec.submodule_search_locations[0]) / "packaged" / "ATen"


def render(samples: Sequence[dict[tuple[str, str], Sample]]) -> str:
    """The medians of all pairs as a table; a ratio above 1 means that opgen needs less."""
    lines = [f"{'':10} {'':6} {'torchgen':>10} {'opgen':>10} {'ratio':>7}"]
    for kind in KINDS:
        for label, field, unit in (("wall", "wall_s", "s"), ("CPU", "cpu_s", "s"), ("memory", "peak_mib", "MiB")):
            old, new = (statistics.median(getattr(sample[kind, tool], field) for sample in samples) for tool in TOOLS)
            lines.append(f"{kind:10} {label:6} {old:>8.2f} {unit:3}{new:>7.2f} {unit:3}{old / new:>6.1f}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python bench/compare.py", description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=5, metavar="N", help="how often each tool runs (5)")
    parser.add_argument("--source", type=Path, help="definitions and templates (those of the installed torch)")
    parser.add_argument("--flags", default="--per-operator-headers", help="arguments for both tools, in one text")
    options = parser.parse_args(arguments)
    source = (options.source or installed_definitions()).resolve()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {options.pairs} pairs, {options.flags}")
    with tempfile.TemporaryDirectory(prefix="opgen-bench-") as root:
        bench = Bench(Path(root), source, tuple(options.flags.split()))
        samples = []
        for number in range(options.pairs):
            samples.append(bench.pair(number))
            print(f"pair {number + 1} of {options.pairs} done", file=sys.stderr)
    print(render(samples))
    return 0


if __name__ == "__main__":
    sys.exit(main())
