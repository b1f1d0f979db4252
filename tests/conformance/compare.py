"""Two folders of generated files -> what is missing, what is extra, and where files of one name differ in meaning.

For developers, beside the tests:

    python -m tests.conformance.compare EXPECTED ACTUAL [--only GLOB ...] [--show N]

    3 missing, 0 extra, 2 of 7145 files differ
    missing: RegisterSchema.cpp
    ...
    ops/abs.h: first difference at 12:4 | 12:4, in aten::abs
      expected: ...
"""

from __future__ import annotations

import argparse
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.conformance.tokens import Difference, compare_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PARALLEL_BYTES: Final = 8_000_000
"""Above this much unequal text, comparing goes to worker processes."""


@dataclass(frozen=True, slots=True)
class TreeReport:
    """What two folders don't have in common. Paths are relative, with slashes."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    differences: tuple[Difference, ...]
    compared: int

    @property
    def is_same(self) -> bool:
        """Whether both folders hold the same files with the same meaning."""
        return not (self.missing or self.extra or self.differences)

    def render(self, show: int = 10) -> str:
        """The report as text, each list cut to `show` items."""
        lines = [
            f"{len(self.missing)} missing, {len(self.extra)} extra, "
            f"{len(self.differences)} of {self.compared} files differ"
        ]
        for label, names in (("missing", self.missing), ("extra", self.extra)):
            lines += [f"{label}: {name}" for name in names[:show]]
            lines += [f"{label}: ... and {len(names) - show} more"] if len(names) > show else []
        lines += [str(difference) for difference in self.differences[:show]]
        rest = self.differences[show:]
        if rest:
            lines.append(f"... and {len(rest)} more files that differ: " + ", ".join(item.path for item in rest[:40]))
        return "\n".join(lines)


def compare_trees(expected: Path, actual: Path, only: Sequence[str] = ()) -> TreeReport:
    """Compare all files below two folders; a folder that isn't there is empty."""
    left, right = files_below(expected, only), files_below(actual, only)
    common = sorted(left & right)
    return TreeReport(
        tuple(sorted(left - right)),
        tuple(sorted(right - left)),
        tuple(_differences(expected, actual, common)),
        len(common),
    )


def files_below(root: Path, only: Sequence[str] = ()) -> frozenset[str]:
    """Relative names of the files below a folder, those that match one of the patterns if there are any.

    A pattern is matched against the whole relative name and against the last part alone.
    """
    names = (Path(folder, name).relative_to(root).as_posix() for folder, _, files in os.walk(root) for name in files)
    return frozenset(name for name in names if not only or _matches(name, only))


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern) for pattern in patterns)


def _differences(expected: Path, actual: Path, names: Iterable[str]) -> list[Difference]:
    unequal, size = [], 0
    for name in names:
        left, right = (expected / name).read_bytes(), (actual / name).read_bytes()
        if left != right:
            unequal.append((name, str(expected / name), str(actual / name)))
            size += len(left)
    if size < PARALLEL_BYTES or (os.cpu_count() or 1) < 2:
        found = map(_compare_files, unequal)
        return [difference for difference in found if difference]
    with ProcessPoolExecutor() as pool:
        return [difference for difference in pool.map(_compare_files, unequal, chunksize=16) if difference]


def _compare_files(task: tuple[str, str, str]) -> Difference | None:
    name, expected, actual = task
    left, right = (Path(path).read_text(encoding="utf-8") for path in (expected, actual))
    return compare_texts(name, left, right)


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line; exit code 0 when both folders say the same, 1 when not, 2 when a folder isn't there."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.compare", description=__doc__.partition("\n")[0])
    parser.add_argument("expected", type=Path)
    parser.add_argument("actual", type=Path)
    parser.add_argument("--only", action="append", default=[], metavar="GLOB", help="file names to compare; repeatable")
    parser.add_argument("--show", type=int, default=10, metavar="N", help="how many differences to print (10)")
    options = parser.parse_args(arguments)
    for folder in (options.expected, options.actual):
        if not folder.is_dir():
            print(f"no such folder: {folder}", file=sys.stderr)
            return 2
    report = compare_trees(options.expected, options.actual, options.only)
    print(report.render(options.show))
    return 0 if report.is_same else 1


if __name__ == "__main__":
    sys.exit(main())
