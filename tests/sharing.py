"""What is made once for all test processes of a session."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Share:
    """Folders that are made by whichever test process asks first, while the others wait."""

    session: Path

    def folder(self, name: str, make: Callable[[Path], object]) -> Path:
        """The folder of that name, filled by `make`. If that fails, the next one that asks tries again."""
        path, made = self.session / name, self.session / f"{name}.made"
        with (self.session / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not made.exists():
                shutil.rmtree(path, ignore_errors=True)
                path.mkdir()
                make(path)
                made.touch()
        return path
