"""Rules that hold within an entry's parts and between entries; each breach is one diagnostic."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from opgen.diagnostics import Diagnostics
from opgen.frontend.derive import Derived
from opgen.frontend.entries import Entry
from opgen.frontend.groups import Forms


def check_entries(
    entries: list[Entry], groups: Mapping[Hashable, Forms], derived: Iterable[Derived], log: Diagnostics
) -> None:
    """Logs every breach of a rule."""
