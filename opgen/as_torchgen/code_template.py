"""torchgen's name for the template engine, which is opgen's."""

from __future__ import annotations

from opgen.code_template import CodeTemplate as CodeTemplate

__all__ = ["CodeTemplate"]
