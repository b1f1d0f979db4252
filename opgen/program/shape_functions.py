"""Shape functions in Python (`meta.py`), as input of an extension's emitters."""

from __future__ import annotations

from opgen.frozen_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ShapeFunctions:
    """A file of shape functions in Python."""

    text: str
    """The whole file."""
    functions: tuple[tuple[str, str], ...]
    """The functions' names, and those of their operators (`norm.out`), in the order of the file."""
