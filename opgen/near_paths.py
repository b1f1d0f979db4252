"""A missing path → the most similar existing path.

nearest_path(Path("opss/native"))         →  Path("ops/native")
nearest_path(Path("lab/mlx_ops.yaml"))    →  Path("lab/ops/mlx_ops.yaml")
"""

from __future__ import annotations

import os
from pathlib import Path

from opgen.diagnostics import closest


def nearest_path(path: Path) -> Path | None:
    """Return the path that was most likely meant, or None if none is near.

    The first missing part of the path is assumed to be misspelled, or to be in a subfolder.
    """
    missing = next((each for each in reversed((path, *path.parents)) if not each.exists()), None)
    if missing is None:
        return None
    try:
        names = sorted(os.listdir(missing.parent))
    except OSError:
        return None
    near = closest(missing.name, names)
    candidates = [] if near is None else [missing.parent / near / path.relative_to(missing)]
    candidates += (missing.parent / name / path.relative_to(missing.parent) for name in names)
    return next((candidate for candidate in candidates if candidate.exists()), None)
