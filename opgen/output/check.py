"""Generated files and the files on the disk → their differences, operator by operator.

    differences = compare(files, folders)      →  Difference("out/ops/add.h", old lines, new lines), …
    render_by_operator(differences, names)

    add: 2 places
    --- out/ops/add.h (on the disk)
    +++ out/ops/add.h (generated)
    @@ -12,1 +12,1 @@
    …

A hunk belongs to the first operator named in its changed lines.  Of a file that repeats its shards, only the name is
shown.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from opgen.diagnostics import Diagnostic, Source, Span, UserError
from opgen.frozen_dataclass import dataclass
from opgen.input_files import read_bytes, read_text
from opgen.output.files import OutputFile

MAX_LINES: Final = 4000
"""Maximum number of lines, equal ones at both ends aside, of a file that is compared line by line."""
CONTEXT: Final = 2

_EVERYTHING: Final = re.compile(r"Everything(?=\.\w+$)")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")
_ALL_OPERATORS: Final = "all operators"


@dataclass(frozen=True, slots=True)
class Difference:
    """A file whose text on the disk differs from the generated text."""

    path: str
    """The path, beginning with the folder as the user named it."""
    old: tuple[str, ...] | None
    """The lines on the disk; None if there is no such file."""
    new: tuple[str, ...] | None
    """The lines that would be written; None if the file would be removed."""


def compare(files: Iterable[OutputFile], folders: Mapping[str, str | os.PathLike[str]]) -> Iterator[Difference]:
    """Yield a difference for each file whose contents on disk would change."""
    yield from filter(None, (compare_text(os.path.join(folders[file.root], file.path), file.text) for file in files))


def compare_text(path: str, text: str) -> Difference | None:
    """Return the difference between the file and `text`; None if they are equal."""
    old = read_lines(path)
    new = tuple(text.removesuffix("\n").split("\n"))
    is_same = old is not None and old == new and read_bytes(path) == text.encode()
    return None if is_same else Difference(path, old, new)


def read_lines(path: str) -> tuple[str, ...] | None:
    """Return the lines of a file; None if it doesn't exist."""
    try:
        return tuple(read_text(path, errors="replace").removesuffix("\n").split("\n"))
    except FileNotFoundError:
        return None
    except OSError as error:
        message = f"can't read '{path}': {error.strerror or error}"
        raise UserError(Diagnostic("unreadable-file", message)) from None


def render_by_operator(differences: Sequence[Difference], names: Mapping[str, str]) -> str:
    """Return all differences as text, grouped by operator; `names` maps each C++ name to its operator."""
    shown: dict[str, list[str]] = {}
    paths = {difference.path for difference in differences}
    for difference in differences:
        if _is_repetition(difference.path, paths):
            shown.setdefault(_ALL_OPERATORS, []).append(f"{difference.path}: differs as its shards do\n")
            continue
        for operator, text in _hunks(difference, names):
            shown.setdefault(operator, []).append(text)
    return "".join(
        f"{operator}: {len(texts)} {'place' if len(texts) == 1 else 'places'}\n{''.join(texts)}\n"
        for operator, texts in sorted(shown.items(), key=lambda item: (item[0] == _ALL_OPERATORS, item[0]))
    )


def as_diagnostic(difference: Difference) -> Diagnostic:
    """Return a difference as a diagnostic at the first line that differs."""
    path, old, new = difference.path, difference.old, difference.new
    start = _common_ends(old, new)[0] if old is not None and new is not None else 0
    source = Source(path, "".join(f"{line}\n" for line in old or ()))
    starts = source.line_starts()
    span = Span(source, starts[min(start, len(starts) - 1)], starts[min(start + 1, len(starts) - 1)])
    problem = "isn't there" if old is None else "would be removed" if new is None else "is out of date"
    label = "'opgen gen' with the same flags writes what the definitions give"
    return Diagnostic("stale-file", f"'{path}' {problem}", span, label)


def _is_repetition(path: str, paths: set[str]) -> bool:
    return _EVERYTHING.search(path) is not None and any(_EVERYTHING.sub(f"_{n}", path) in paths for n in range(16))


def _hunks(difference: Difference, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the operator and the text of each hunk."""
    path, old, new = difference.path, difference.old, difference.new
    if old is None or new is None:
        what = "isn't there" if old is None else "would be removed"
        yield _operator_of([os.path.basename(path).partition(".")[0]], names), f"{path}: {what}\n"
        return
    before, after = _common_ends(old, new)
    middle_old, middle_new = old[before : len(old) - after], new[before : len(new) - after]
    head = f"--- {path} (on the disk)\n+++ {path} (generated)\n"
    if not middle_old and not middle_new:
        yield _ALL_OPERATORS, f"{path}: only line ends differ\n"
    elif len(middle_old) + len(middle_new) > MAX_LINES:
        yield _ALL_OPERATORS, f"{head}{len(middle_old):,} lines became {len(middle_new):,}\n"
    else:
        for group in difflib.SequenceMatcher(None, middle_old, middle_new, False).get_grouped_opcodes(CONTEXT):
            lines = list(_unified(group, middle_old, middle_new, before))
            changed = [line[1:] for line in lines[1:] if line[0] in "+-"]
            yield _operator_of(changed, names), head + "".join(f"{line}\n" for line in lines)


def _common_ends(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """Return how many lines are equal at the start and at the end."""
    most = min(len(old), len(new))
    before = next((index for index in range(most) if old[index] != new[index]), most)
    most -= before
    after = next((index for index in range(most) if old[-1 - index] != new[-1 - index]), most)
    return before, after


def _unified(
    group: Iterable[tuple[str, int, int, int, int]], old: Sequence[str], new: Sequence[str], offset: int
) -> Iterator[str]:
    steps = list(group)
    (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = steps[0], steps[-1]
    sizes = old_end - old_start, new_end - new_start
    yield f"@@ -{offset + old_start + 1},{sizes[0]} +{offset + new_start + 1},{sizes[1]} @@"
    for tag, a, b, c, d in steps:
        if tag == "equal":
            yield from (f" {line}" for line in old[a:b])
            continue
        yield from (f"-{line}" for line in old[a:b])
        yield from (f"+{line}" for line in new[c:d])


def _operator_of(lines: Iterable[str], names: Mapping[str, str]) -> str:
    """Return the operator that the lines name first."""
    words = (word for line in lines for word in _WORD.findall(line))
    return next(filter(None, (_operator_in(word, names) for word in words)), _ALL_OPERATORS)


def _operator_in(word: str, names: Mapping[str, str]) -> str | None:
    """Return the operator with the longest name in a word: `structured_add_out_inplace` is about `add`."""
    if word in names:
        return names[word]
    parts = word.split("_")
    for length in range(len(parts) - 1, 0, -1):
        for start in range(len(parts) - length + 1):
            operator = names.get("_".join(parts[start : start + length]))
            if operator is not None:
                return operator
    return None
