"""Locks a folder for one run: a second run waits until the first one has ended.

The folder itself is locked, so no lock file is left behind.  If the system or the file system has no
such locks, runs don't wait for each other, but each file is still replaced atomically.
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
    """Lock `folder` until the end of the block; yield False if locks aren't supported."""
    handle = None
    try:
        handle = _lock(folder)
        yield handle is not None
    finally:
        if handle is not None:
            os.close(handle)


def _lock(folder: str) -> int | None:
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
    except BaseException:  # interrupted while waiting
        os.close(handle)
        raise
    return handle
