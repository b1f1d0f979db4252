"""What a run did to the disk, as a value."""

from __future__ import annotations

from opgen.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class WriteReport:
    """What a run wrote or, if it was a dry one, would have written."""

    total: int
    """Number of files, changed or not."""
    changed: tuple[str, ...]
    """Paths of the files that were new or had other bytes, sorted."""
    dry_run: bool = False
    """Whether nothing was touched."""
    removed: tuple[str, ...] = ()
    """Paths of the files of a former run that this one has no more, sorted."""
    folders: tuple[str, ...] = ()
    """The folders that the files are in, as the user named them."""
