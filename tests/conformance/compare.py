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
import hashlib
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

from opgen.output.manifest import NAME as MANIFEST
from tests.conformance import tokens
from tests.conformance.tokens import Difference, compare_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PARALLEL_BYTES: Final = 8_000_000
"""Above this much unequal text, comparing may go to worker processes."""


MOST_KEPT: Final = 64_000_000
"""Bytes of the file of equal pairs, above which it is begun again."""
_SIZE: Final = hashlib.sha256().digest_size


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


class EqualTexts:
    """Pairs of texts that were found to mean the same. Most files of one run are those of another."""

    def __init__(self, kept: Path | None = None) -> None:
        """Begin with the pairs in the file `kept`, and add new ones to it."""
        self._kept = kept
        found = kept.read_bytes() if kept is not None and kept.exists() else b""
        if kept is not None and len(found) > MOST_KEPT:
            kept.unlink(missing_ok=True)
        self._keys = {found[at : at + _SIZE] for at in range(0, len(found), _SIZE)}
        self._method = hashlib.sha256(Path(tokens.__file__).read_bytes()).digest()

    def has(self, left: bytes, right: bytes) -> bool:
        """Whether the texts are the same bytes, or were found equal before."""
        return left == right or self._key(left, right) in self._keys

    def add(self, left: bytes, right: bytes) -> None:
        """Remember two texts that mean the same."""
        key = self._key(left, right)
        self._keys.add(key)
        if self._kept is not None:
            with self._kept.open("ab", buffering=0) as file:
                file.write(key)  # in one piece, whichever processes add at the same time

    def _key(self, left: bytes, right: bytes) -> bytes:
        """A digest of both texts, and of the code that compared them."""
        return hashlib.sha256(self._method + hashlib.sha256(left).digest() + hashlib.sha256(right).digest()).digest()


def compare_trees(
    expected: Path, actual: Path, only: Sequence[str] = (), equals: EqualTexts | None = None, jobs: int = 1
) -> TreeReport:
    """Compare all files below two folders; a folder that isn't there is empty."""
    left, right = files_below(expected, only), files_below(actual, only)
    common = sorted(left & right)
    return TreeReport(
        tuple(sorted(left - right)),
        tuple(sorted(right - left)),
        tuple(_differences(expected, actual, common, equals or EqualTexts(), jobs)),
        len(common),
    )


def files_below(root: Path, only: Sequence[str] = ()) -> frozenset[str]:
    """Relative names of the files below a folder, those that match one of the patterns if there are any.

    A pattern is matched against the whole relative name and against the last part alone.
    """
    names = (Path(folder, name).relative_to(root).as_posix() for folder, _, files in os.walk(root) for name in files)
    wanted = (name for name in names if not only or _matches(name, only))
    return frozenset(name for name in wanted if not is_kept_by_opgen(name))


def is_kept_by_opgen(name: str) -> bool:
    """Whether opgen keeps the file for its next run: the manifest."""
    return PurePosixPath(name).name == MANIFEST


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) or fnmatchcase(name.rpartition("/")[2], pattern) for pattern in patterns)


def _differences(expected: Path, actual: Path, names: Iterable[str], equals: EqualTexts, jobs: int) -> list[Difference]:
    tasks = []
    for name in names:
        left, right = (expected / name).read_bytes(), (actual / name).read_bytes()
        if not equals.has(left, right):
            tasks.append((name, left, right))
    if jobs == 1 or sum(len(left) for _, left, _ in tasks) < PARALLEL_BYTES:
        found = [_compare_file(task) for task in tasks]
    else:
        with ProcessPoolExecutor(jobs) as pool:
            found = list(pool.map(_compare_file, tasks, chunksize=16))
    for (_, left, right), difference in zip(tasks, found):
        if difference is None:
            equals.add(left, right)
    return [difference for difference in found if difference]


def _compare_file(task: tuple[str, bytes, bytes]) -> Difference | None:
    name, left, right = task
    return compare_texts(name, left.decode("utf-8"), right.decode("utf-8"))


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
    report = compare_trees(options.expected, options.actual, options.only, jobs=os.cpu_count() or 1)
    print(report.render(options.show))
    return 0 if report.is_same else 1


if __name__ == "__main__":
    sys.exit(main())
