"""Files that a run may change only with a flag → an error for each whose text on disk differs.

Headers that compiled programs depend on (their ABI) are kept in the source tree.  Differences in comments and white
space are ignored.

    check_pinned(headers, Path("generated"), "--update-aoti-c-shim", log)

    opgen: error: 'generated/c_shim_cpu.h' is out of date: the operators give other declarations [pinned-file-changed]
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics, Note
from opgen.input_files import read_text
from opgen.output.files import OutputFile

MAX_DIFF_LINES: Final = 60
"""Maximum number of lines of a difference that are shown for one file."""

_COMMENT: Final = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def check_pinned(files: Iterable[OutputFile], folder: Path, flag: str, log: Diagnostics) -> None:
    """Log an error for each file whose text on disk differs, and a warning for each missing file.

    `flag` is the flag with which a run writes them.
    """
    for file in files:
        path = folder / file.path
        try:
            on_disk = read_text(path)
        except FileNotFoundError:
            notes = (Note(f"write it with {flag}"),)
            log.warning("pinned-file-missing", f"'{path}' not found, so it can't be checked", notes=notes)
        except (OSError, UnicodeDecodeError) as problem:
            reason = getattr(problem, "strerror", None) or "it is not UTF-8"
            log.error("unreadable-file", f"can't read '{path}': {reason}")
        else:
            _compare(path, on_disk, file.text, flag, log)


def diff_pinned(file: OutputFile, folder: Path, log: Diagnostics) -> tuple[str, ...]:
    """Return the lines of a unified diff between the file on the disk and `file`; none if they are equal.

    A missing file differs in all lines; an unreadable file is an error.
    """
    path = folder / file.path
    try:
        on_disk = read_text(path)
    except FileNotFoundError:
        return tuple(_diff(path, None, file.text, context=3))
    except (OSError, UnicodeDecodeError) as problem:
        reason = getattr(problem, "strerror", None) or "it is not UTF-8"
        log.error("unreadable-file", f"can't read '{path}': {reason}")
        return ()
    return tuple(_diff(path, on_disk, file.text, context=3))


def _diff(path: Path, on_disk: str | None, text: str, *, context: int) -> Iterator[str]:
    """Return the difference of two texts, comments aside; nothing if there is none."""
    old, new = _code_lines(on_disk or ""), _code_lines(text)
    where = "not on the disk" if on_disk is None else "on the disk"
    return difflib.unified_diff(old, new, f"{path} ({where})", f"{path} (generated)", lineterm="", n=context)


def _compare(path: Path, on_disk: str, text: str, flag: str, log: Diagnostics) -> None:
    diff = list(_diff(path, on_disk, text, context=1))
    if not diff:
        return
    shown = diff[:MAX_DIFF_LINES]
    if len(diff) > len(shown):
        shown.append(f"... and {len(diff) - len(shown)} more lines")
    notes = (
        Note("the difference, without comments:", lines=tuple(shown)),
        Note(f"if programs compiled against it will still work, write it with {flag}"),
    )
    log.error("pinned-file-changed", f"'{path}' is out of date: the operators give other declarations", notes=notes)


def _code_lines(text: str) -> list[str]:
    """Return the lines without comments, with single spaces, without empty ones."""
    lines = (" ".join(line.split()) for line in _COMMENT.sub("", text).split("\n"))
    return [line for line in lines if line]
