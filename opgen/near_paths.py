"""A path that isn't there → the nearest one that is.

nearest_path(Path("opss/native"))         →  Path("ops/native")
nearest_path(Path("lab/mlx_ops.yaml"))    →  Path("lab/ops/mlx_ops.yaml")
"""

from __future__ import annotations

import os
from pathlib import Path

from opgen.diagnostics import closest


def nearest_path(path: Path) -> Path | None:
    """Return the path that was most likely meant, or None if none is near.

    The first part of the path that isn't there is taken for misspelt, or for the name of something one folder below.
    """
    wrong = next((each for each in reversed((path, *path.parents)) if not each.exists()), None)
    if wrong is None:
        return None
    try:
        names = sorted(os.listdir(wrong.parent))
    except OSError:
        return None
    near = closest(wrong.name, names)
    places = [] if near is None else [wrong.parent / near / path.relative_to(wrong)]
    places += (wrong.parent / name / path.relative_to(wrong.parent) for name in names)
    return next((place for place in places if place.exists()), None)
