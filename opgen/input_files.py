"""A path → the bytes or the text of the file there.

    read_bytes("ops.yaml")      →   its bytes
    read_bytes("/dev/zero")     →   OSError: it is a device, not a file

Reading a device may never end, and opening a pipe may block, so only regular files are opened.  This module imports
little, since runs without changes need it.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import Final

MAX_BYTES: Final = 1 << 30
"""The size of the largest file that is read."""
_KINDS: Final = (
    (stat.S_ISDIR, errno.EISDIR, "it is a folder"),
    (stat.S_ISFIFO, errno.EINVAL, "it is a pipe, not a file"),
    (stat.S_ISSOCK, errno.EINVAL, "it is a socket, not a file"),
)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a regular file.

    Raises OSError, whose `strerror` says what is there instead.
    """
    try:
        status = os.stat(path)
        if (reason := why_not_a_file(status.st_mode)) is not None:
            raise reason
        with open(path, "rb", buffering=0) as file:
            data = _read(file.fileno(), status.st_size) if status.st_size <= MAX_BYTES else None
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name") from None
    if data is None or len(data) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MAX_BYTES >> 20} MiB")
    return data


def _read(file: int, size: int) -> bytes:
    """Return the contents of an open file, at most `MAX_BYTES + 1` bytes; `size` is a hint."""
    parts: list[bytes] = []
    remaining = MAX_BYTES + 1
    while remaining > 0 and (part := os.read(file, min(remaining, max(size + 1, 1 << 16)))):
        parts.append(part)
        remaining -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def read_text(path: str | os.PathLike[str], *, errors: str = "strict") -> str:
    """Return the text of a UTF-8 file; line ends are normalized to newlines.

    Raises OSError as `read_bytes` does, and UnicodeDecodeError.
    """
    text = read_bytes(path).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def read_text_if_possible(path: str | os.PathLike[str]) -> str:
    """Return the text of a file; empty if it can't be read.  Bytes that aren't UTF-8 are replaced."""
    try:
        return read_text(path, errors="replace")
    except OSError:
        return ""


def why_not_a_file(mode: int) -> OSError | None:
    """Return the error for a file of this mode that isn't regular; None if it is regular."""
    if stat.S_ISREG(mode):
        return None
    reasons = ((number, reason) for is_kind, number, reason in _KINDS if is_kind(mode))
    return OSError(*next(reasons, (errno.EINVAL, "it is a device, not a file")))
