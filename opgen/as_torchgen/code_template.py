"""torchgen's template engine: opgen's, under the same name."""

from __future__ import annotations

from opgen.code_template import CodeTemplate as CodeTemplate

__all__ = ["CodeTemplate"]
