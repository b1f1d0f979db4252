r"""The inputs and outputs of a run → the files that a build system reads.

A *depfile* lists the inputs of a run in Make's syntax, so that the build runs it again if any of them
changes.  A *stamp* is an empty file whose time is that of the last successful run: outputs keep their times if their
text is unchanged.  An *install list* names the headers that users of the
library need, relative to the install directory.

    out/stamp: \
      ATen/native/native_functions.yaml \
      ATen/templates/Functions.h
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from typing import Final

from opgen.diagnostics import Diagnostic, Note, UserError

_HEADER_SUFFIXES: Final = (".h", ".hpp", ".cuh")


_SPECIAL: Final = re.compile(r"[ #:]")
_UNREADABLE: Final = re.compile(r"""[\x00-\x1f\x7f;|*?=&\\'"()<>^`]""")
"""Characters that Make or Ninja cannot read in a name, however they are escaped."""


def render_depfile(target: str, inputs: Iterable[str]) -> str:
    """Return the Make rule for the dependencies of `target`.

    Raises UserError for each name that Make or Ninja cannot read.
    """
    names = [target, *sorted(set(inputs))]
    problems = [_unreadable(name, match[0]) for name in names if (match := _UNREADABLE.search(_with_slashes(name)))]
    if problems:
        raise UserError(*problems)
    rule, *paths = map(_escape, names)
    return " \\\n  ".join([f"{rule}:", *paths]) + "\n"


def _unreadable(name: str, character: str) -> Diagnostic:
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    message = f"a depfile can't name {name!r}: Make and Ninja don't read '{shown}' in a name"
    return Diagnostic("depfile-name", message, notes=(Note("rename the file or its folder"),))


def _with_slashes(path: str) -> str:
    return path.replace(os.sep, "/")


def _escape(path: str) -> str:
    """Return `path` as Make and Ninja read it."""
    return _SPECIAL.sub(r"\\\g<0>", _with_slashes(path).replace("$", "$$"))


def render_install_list(paths: Iterable[str]) -> str:
    """Return the headers among `paths`, sorted, one a line."""
    return "".join([f"{path}\n" for path in sorted(paths) if path.endswith(_HEADER_SUFFIXES)])


def touch(path: str) -> bool:
    """Set the time of the file to now; return False if that fails.  An empty path is ignored."""
    if not path:
        return True
    if os.path.exists(path) and not os.path.isfile(path):
        return False  # opening a pipe would block until it has a reader
    try:
        with open(path, "ab"):
            os.utime(path)
    except OSError:
        return False
    return True
