"""A path that isn't there → the nearest one that is.

nearest_path(Path("opss/native"))    →  Path("ops/native")
"""

from __future__ import annotations

import os
from pathlib import Path

from opgen.diagnostics import closest


def nearest_path(path: Path) -> Path | None:
    """Return the path that was most likely meant, or None if none is near.

    The first part of the path that isn't there is taken for misspelt.
    """
    wrong = next((each for each in reversed((path, *path.parents)) if not each.exists()), None)
    if wrong is None:
        return None
    try:
        near = closest(wrong.name, os.listdir(wrong.parent))
    except OSError:
        return None
    found = None if near is None else wrong.parent / near / path.relative_to(wrong)
    return found if found is not None and found.exists() else None
