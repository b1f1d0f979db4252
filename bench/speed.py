"""opgen's speed beside torchgen's, on the operators of the installed torch, in one run on this machine.

    python -m bench.speed [--rounds 3] [--folder DIR]

Each round runs every command once, one after the other, so that a machine that slows down slows down
all of them; the ratios are of runs of the same round.  Memory is that of all processes of a command together,
shared pages counted once; to look at it slows a command down, which gets a run of its own for it.  A folder in
memory (`--folder /dev/shm/x`) leaves the disk out of it.

Nothing is removed before the end, for ext4 takes up to ten times as long to make a file in the minutes after many
were removed (it looks for an inode that wasn't in use lately); so a run needs 4 GB, and should come some minutes
after the one before.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]


@dataclass(frozen=True)
class Figure:
    """One run of a command."""

    wall: float
    cpu: float
    memory: float = 0
    """In MB, if it was looked at."""


@dataclass(frozen=True)
class Case:
    """A command, and what to do before each run."""

    name: str
    module: str
    arguments: tuple[str, ...]
    prepare: Callable[[], None]
    baseline: str = ""
    """The case that it is compared with; the first one if empty."""


def definitions_of_torch() -> Path:
    spec = importlib.util.find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("torch isn't installed")
    return Path(spec.submodule_search_locations[0]) / "packaged" / "ATen"


def measure(case: Case, cwd: Path, *, with_memory: bool = False) -> Figure:
    case.prepare()
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # else opgen would be compiled anew in each run
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    command = [sys.executable, "-m", case.module, *case.arguments]
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    with watched_memory(process.pid) if with_memory else nullcontext([0]) as peak:
        code = process.wait()
    wall, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if code != 0:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Figure(wall, cpu, peak[0] / 1e6)


@contextmanager
def watched_memory(group: int) -> Iterator[list[int]]:
    """The most bytes that the processes of a group had together, looked at 50 times a second."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], memory_of_group(group))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peak
    finally:
        done.set()
        thread.join()


def memory_of_group(group: int) -> int:
    total = 0
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.getpgid(int(entry)) == group:
                total += proportional_size(Path("/proc", entry, "smaps_rollup").read_text())
        except (OSError, ValueError):
            continue  # it has just ended
    return total


def proportional_size(rollup: str) -> int:
    line = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
    return int(line.split()[1]) * 1024


def set_aside(folder: Path) -> None:
    """What a run before this one wrote, if there was one, gets another name."""
    if folder.exists():
        former = folder.parent / "former"
        former.mkdir(exist_ok=True)
        folder.rename(former / f"{folder.name}_{len(os.listdir(former))}")


def cases(source: Path, work: Path) -> list[Case]:
    kept = work / "kept"
    original = (source / "native" / "native_functions.yaml").read_text()
    flags = ("--per-operator-headers",)

    def emptying(name: str) -> Callable[[], None]:
        return lambda: set_aside(work / name)

    def nothing() -> None:
        return None

    run = ("-s", str(source), *flags)
    tenfold = work / "tenfold"
    shutil.copytree(source, tenfold)
    (tenfold / "native" / "native_functions.yaml").write_text(multiplied(original, 10))
    small = work / "small"
    shutil.copytree(source, small)
    (small / "native" / "native_functions.yaml").write_text(first_operators(original, FEW))
    few, beside = ("-s", str(small), *flags), f"{FEW} operators, torchgen"
    return [
        Case("torchgen", "torchgen.gen", (*run, "-d", str(work / "torchgen")), emptying("torchgen")),
        Case("cold, --jobs 1", "opgen.gen", (*run, "-d", str(work / "one"), "-q", "-j1"), emptying("one")),
        Case("cold", "opgen.gen", (*run, "-d", str(work / "all"), "-q"), emptying("all")),
        Case("nothing changed", "opgen.gen", (*run, "-d", str(kept), "-q"), nothing),
        Case(
            "ten times the operators, --jobs 1",
            "opgen.gen",
            ("-s", str(tenfold), *flags, "-d", str(work / "ten"), "-q", "-j1"),
            emptying("ten"),
        ),
        Case(beside, "torchgen.gen", (*few, "-d", str(work / "few")), emptying("few")),
        *(
            Case(
                f"{FEW} operators, --jobs {jobs}",
                "opgen.gen",
                (*few, "-d", str(work / f"few_{jobs}"), "-q", f"-j{jobs}"),
                emptying(f"few_{jobs}"),
                beside,
            )
            for jobs in (1, 2, 4)
        ),
    ]


FEW = 25
_ENTRY = re.compile(r"(?m)^(?=- func:)")
_NAMES = re.compile(r"(?m)^(?:- func: ([\w.]+)(?=\()|  (?:autogen|structured_delegate): (.+))")
_NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)?")
_UNLIKE_OTHERS = re.compile(
    r"- func: (?:__|(?:resize|resize_as|set|bernoulli|_fill_mem_eff_dropout_mask|record_stream|polygamma|_cummax_helper"
    r"|_cummin_helper|_flash_attention_forward_no_dropout_inplace)_?[.(]"
    r"|(?:_slow_conv2d_backward|adaptive_avg_pool3d_backward)\.grad_input)"
)
"""Operators that would not be right under another name."""


def first_operators(definitions: str, count: int) -> str:
    """The first `count` entries of public operators with kernels, views left out; each operator with all its forms."""
    forms: dict[str, list[str]] = {}
    for entry in _ENTRY.split(definitions):
        if entry.startswith("- func: "):
            forms.setdefault(entry[len("- func: ") :].partition("(")[0].partition(".")[0].rstrip("_"), []).append(entry)
    chosen: list[str] = []
    for name, entries in forms.items():
        is_usual = not name.startswith("_") and any("dispatch:" in entry for entry in entries)
        if is_usual and len(chosen) + len(entries) <= count and not any("(a)" in entry for entry in entries):
            chosen += entries
    return "".join(chosen)


def multiplied(definitions: str, count: int) -> str:
    """The operators, and copies of all but a few of them under new names."""
    entries = "".join(entry for entry in _ENTRY.split(definitions) if not _UNLIKE_OTHERS.match(entry))
    return definitions + "\n".join(_renamed(entries, f"v{number}_") for number in range(1, count))


def _renamed(definitions: str, prefix: str) -> str:
    def rename(found: re.Match[str]) -> str:
        names = found[1] or found[2]
        return found[0].replace(names, _NAME.sub(lambda name: prefix + name[0], names))

    return _NAMES.sub(rename, definitions)


def report(name: str, figures: Sequence[Figure], baseline: Sequence[Figure], memory: float) -> str:
    wall, cpu = (statistics.median(getattr(f, field) for f in figures) for field in ("wall", "cpu"))
    faster = statistics.median(a.wall / b.wall for a, b in zip(baseline, figures, strict=True))
    cheaper = statistics.median(a.cpu / b.cpu for a, b in zip(baseline, figures, strict=True))
    return f"{name:<32}{wall:>8.2f} s{cpu:>8.2f} s{memory:>7.0f} MB{faster:>8.1f} x{cheaper:>8.1f} x"


def main(arguments: Sequence[str] | None = None) -> None:
    run(cases, "python -m bench.speed", __doc__.partition("\n")[0], arguments)


def run(
    cases_of: Callable[[Path, Path], list[Case]], command: str, description: str, arguments: Sequence[str] | None
) -> None:
    """Measures cases that a source and a working folder give; prints a table of them beside the first."""
    parser = argparse.ArgumentParser(prog=command, description=description)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to write; default: a temporary folder")
    given = parser.parse_args(arguments)
    if given.folder is not None:
        given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        work = Path(folder)
        found = cases_of(definitions_of_torch(), work)
        for case in found:
            measure(case, work)  # once without counting: compiled modules, warm caches
        memory = [measure(case, work, with_memory=True).memory for case in found]
        rounds = [[measure(case, work) for case in found] for _ in range(given.rounds)]
    by_case = [list(column) for column in zip(*rounds, strict=True)]
    load = os.getloadavg()[0]
    print(f"{given.rounds} rounds, {os.cpu_count()} cores, load {load:.1f}, Python {sys.version.split()[0]}")
    print(f"{'':<32}{'wall':>10}{'CPU':>10}{'memory':>10}{'wall':>10}{'CPU':>10}")
    names = [case.name for case in found]
    for case, figures, peak in zip(found, by_case, memory, strict=True):
        baseline = by_case[names.index(case.baseline) if case.baseline else 0]
        print(report(case.name, figures, baseline, peak))


if __name__ == "__main__":
    main()
