r"""What a build system must know of a run → small files that it can read.

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
from collections.abc import Iterable
from typing import Final

_HEADER_SUFFIXES: Final = (".h", ".hpp", ".cuh")


def render_depfile(target: str, inputs: Iterable[str]) -> str:
    """The rule that says what `target` depends on; any file that isn't there any more is no mistake."""
    paths = [_escape(path) for path in sorted(set(inputs))]
    rule = " \\\n  ".join([f"{_escape(target)}:", *paths])
    return f"{rule}\n"


def _escape(path: str) -> str:
    """`path` as Make and Ninja read it."""
    path = path.replace(os.sep, "/")
    return path.replace("$", "$$").replace("#", "\\#").replace(" ", "\\ ").replace("\n", " ")


def render_install_list(paths: Iterable[str]) -> str:
    """The headers among `paths`, one a line, sorted."""
    return "".join([f"{path}\n" for path in sorted(paths) if path.endswith(_HEADER_SUFFIXES)])


def touch(path: str) -> bool:
    """Makes the file newer than everything else; False if that can't be done.  No path is no work."""
    if not path:
        return True
    try:
        with open(path, "ab"):
            os.utime(path)
    except OSError:
        return False
    return True
