"""What calls of an extension's operators cost beside torch's own, in one run on this machine.

    python -m bench.extension [--build DIR] [--rounds 1000]

Builds `examples/rational` from nothing with optimisation, unless DIR has it already, and says how long that took.
Then times calls on tensors of 4 elements with one thread.  In each round every call is timed for a millisecond, one
after the other; a figure is the best of all rounds, as what makes a call slower than that is the machine.
"""

from __future__ import annotations

import argparse
import importlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from timeit import Timer
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
ROUND_S = 0.001

Calls = Mapping[str, Timer]
"""What is timed, by what it is called."""


def build(folder: Path) -> tuple[float, float]:
    """Builds the example; returns how long it took, and how long all cores worked."""
    cmake_dir = REPOSITORY / "opgen" / "cmake"
    settings = {"opgen_DIR": cmake_dir, "Python_EXECUTABLE": sys.executable, "CMAKE_BUILD_TYPE": "Release"}
    flags = [f"-D{name}={value}" for name, value in settings.items()]
    started = time.monotonic()
    commands: list[list[str | os.PathLike[str]]] = [
        ["cmake", "-S", REPOSITORY / "examples" / "rational", "-B", folder, *flags],
        ["cmake", "--build", folder, "--parallel", str(os.cpu_count() or 1)],
    ]
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{done.stdout}\n{done.stderr}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic() - started, used.ru_utime + used.ru_stime


def tables(torch: Any, package: Any) -> tuple[Calls, ...]:
    """Calls of a pointwise operator, each table with torch's first: alone, with `out`, recorded, with the gradient."""
    a, b = torch.rand(4) + 1, torch.rand(4) + 1
    learned = (torch.rand(4) + 1).requires_grad_()
    packet = torch.ops.rational.ratio
    plain = {
        "torch.add(a, b)": _call(torch.add, a, b),
        "rational.ratio(a, b)": _call(package.ratio, a, b),
        "rational.blend(a, b)": _call(package.blend, a, b),
        "torch.ops.rational.ratio(a, b)": _call(packet, a, b),
        "torch.ops.rational.ratio.Tensor(a, b)": _call(packet.Tensor, a, b),
    }
    with_out = {
        "torch.add(a, b, out=c)": _call(torch.add, a, b, "f(a, b, out=c)"),
        "rational.ratio(a, b, out=c)": _call(package.ratio, a, b, "f(a, b, out=c)"),
    }
    recorded = {
        "torch.mul(a, b), recorded": _call(torch.mul, learned, b),
        "rational.ratio(a, b), recorded": _call(package.ratio, learned, b),
        "rational.blend(a, b), recorded": _call(package.blend, learned, b),
    }
    # The gradient of each of these is one call of an operator.
    backward = {
        "torch.mul(a, b).backward(c)": _call(torch.mul, learned, b, "f(a, b).backward(c)"),
        "rational.ratio(a, b).backward(c)": _call(package.ratio, learned, b, "f(a, b).backward(c)"),
    }
    return plain, with_out, recorded, backward


def _call(function: object, a: Any, b: Any, statement: str = "f(a, b)") -> Timer:
    return Timer(statement, globals={"f": function, "a": a, "b": b, "c": b.clone()})


def best_times(measured: Calls, rounds: int) -> dict[str, float]:
    """Seconds a call, by the calls' names."""
    best = {name: timer.timeit(1000) / 1000 for name, timer in measured.items()}
    counts = {name: max(1, int(ROUND_S / seconds)) for name, seconds in best.items()}
    for _ in range(rounds):
        for name, timer in measured.items():
            best[name] = min(best[name], timer.timeit(counts[name]) / counts[name])
    return best


def report(measured: Mapping[str, float]) -> None:
    """Prints times, and how many times the first one each is."""
    first = next(iter(measured.values()))
    for name, seconds in measured.items():
        print(f"{name:<40} {seconds * 1e6:6.2f} µs   {seconds / first:5.2f}")
    print()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="bench.extension", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--build", type=Path, metavar="DIR", help="where the example is built, or is to be")
    parser.add_argument("--rounds", type=int, default=1000)
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.build or Path(scratch) / "build"
        if not (folder / "python").is_dir():
            wall, cpu = build(folder)
            print(f"examples/rational was built from nothing in {wall:.0f} s, {cpu:.0f} s of processor time\n")
        sys.path.insert(0, os.fspath(folder / "python"))
        torch, package = importlib.import_module("torch"), importlib.import_module("rational")
        torch.set_num_threads(1)
        for table in tables(torch, package):
            report(best_times(table, given.rounds))


if __name__ == "__main__":
    main()
