"""The value that summarizes a run."""

from __future__ import annotations

from opgen.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WriteReport:
    """The files that a run wrote, or that a dry run would write."""

    total: int
    """Number of files, changed or not."""
    changed: tuple[str, ...]
    """Paths of the files that are new or whose bytes changed, sorted."""
    dry_run: bool = False
    """Whether nothing was written."""
    removed: tuple[str, ...] = ()
    """Paths of the files that an earlier run wrote and this one doesn't, sorted."""
    folders: tuple[str, ...] = ()
    """The folders that the files are in, as the user named them."""
