r"""What a build system needs to know about a run → small files that it reads.

A *depfile* says in the syntax of Make what a run read, so that the build runs it again when any of
that changes.  A *stamp* is a file without contents whose time says when a run last found all in order: outputs
keep their times if their text is the same.  An *install list* names the headers that users of the
library need, relative to where they are installed from.

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
    """Return the rule that says what `target` depends on; a file that doesn't exist any more is no mistake.

    Raises UserError for each name that Make or Ninja cannot read.
    """
    names = [target, *sorted(set(inputs))]
    problems = [_unreadable(name, found[0]) for name in names if (found := _UNREADABLE.search(_with_slashes(name)))]
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
        return False  # to open a pipe would wait for its reader
    try:
        with open(path, "ab"):
            os.utime(path)
    except OSError:
        return False
    return True
