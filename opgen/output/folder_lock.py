"""Locks a folder for one run: a second run waits until the first one has ended.

The lock is on the folder itself, so it leaves nothing behind.  Where the system or the file system
has no such locks, there are none: each file is put in its place in one step all the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

try:
    from fcntl import LOCK_EX, flock
except ImportError:  # Windows
    _HAS_LOCKS = False
else:
    _HAS_LOCKS = True


@contextmanager
def lock_folder(folder: str) -> Iterator[bool]:
    """Lock `folder` until the end of the block; yield False where locks aren't possible."""
    handle = None
    try:
        handle = _locked(folder)
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)


def _locked(folder: str) -> int | None:
    if not _HAS_LOCKS:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    try:
        flock(handle, LOCK_EX)
    except OSError:
        os.close(handle)
        return None
    except BaseException:  # interrupted from the keyboard while it waits
        os.close(handle)
        raise
    return handle
