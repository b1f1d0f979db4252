"""What an extension in torch's stable ABI costs beside an ordinary one: building a new project, and calls.

    python -m bench.stable [--rounds 300]

Lays out both kinds of projects with `opgen new`, builds each and says how many seconds all cores worked. Then times
calls on tensors of 4 elements with one thread, both kinds and torch's own in turn; a figure is the best of all rounds.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
KINDS = {"ordinary": (), "stable": ("--stable-abi",)}
"""The packages that are built, and the flags of `opgen new`."""

_CALLS = """
import sys
import timeit
import torch
import ordinary, stable

torch.set_num_threads(1)
a, b, learned = torch.rand(4), torch.rand(4), torch.rand(4, requires_grad=True)
calls = {
    "torch.lerp(a, b, 0.5)": lambda: torch.lerp(a, b, 0.5),
    "ordinary.scaled_add(a, b)": lambda: ordinary.scaled_add(a, b),
    "stable.scaled_add(a, b)": lambda: stable.scaled_add(a, b),
    "torch.lerp, recorded": lambda: torch.lerp(learned, b, 0.5),
    "stable.scaled_add, recorded": lambda: stable.scaled_add(learned, b),
    "torch.lerp and backward": lambda: torch.lerp(learned, b, 0.5).backward(a),
    "stable.scaled_add and backward": lambda: stable.scaled_add(learned, b).backward(a),
}
best = dict.fromkeys(calls, float("inf"))
for _ in range(int(sys.argv[1])):
    for name, call in calls.items():
        best[name] = min(best[name], timeit.timeit(call, number=50) / 50)
for name, seconds in best.items():
    print(f"{name:35} {seconds * 1e6:8.2f} us")
"""


def build(name: str, flags: Sequence[str], folder: Path) -> float:
    """Build a new project; return how many seconds all cores worked."""
    before = _processor_seconds()
    settings = {"opgen_DIR": REPOSITORY / "opgen" / "cmake", "Python_EXECUTABLE": sys.executable}
    _run([sys.executable, "-m", "opgen", "new", name, *flags], folder)
    places = ["-S", name, "-B", f"{name}/build"]
    _run(["cmake", *places, *(f"-D{key}={value}" for key, value in settings.items())], folder)
    _run(["cmake", "--build", f"{name}/build", "--parallel", str(os.cpu_count() or 1)], folder)
    return _processor_seconds() - before


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _run(command: Sequence[str], folder: Path, **variables: str) -> str:
    environment = {**os.environ, "PYTHONPATH": os.fspath(REPOSITORY), "CCACHE_DISABLE": "1", **variables}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=300, help="how often each call is timed; default: %(default)s")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for name, flags in KINDS.items():
            print(f"{name + ': processor seconds of a build':35} {build(name, flags, folder):8.1f} s", flush=True)
        packages = os.pathsep.join(os.fspath(folder / name / "build" / "python") for name in KINDS)
        print(_run([sys.executable, "-W", "ignore", "-c", _CALLS, str(rounds)], folder, PYTHONPATH=packages), end="")


if __name__ == "__main__":
    main()
