"""torchgen's `api.meta`: the names of meta functions."""

from __future__ import annotations

from opgen.api.meta import name as name

__all__ = ["name"]
