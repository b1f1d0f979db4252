"""Patterns that Inductor looks for in graphs → a Python module for each function that they were traced from.

Tracing is slow, so torch ships the traced patterns.

    Pattern("mm_pattern", "mm_pattern_inference", "mm_pattern_inference = CallFunction(aten.mm.default, …)")

    from torch._inductor.pattern_matcher import (
        Arg,
        …
    )

    mm_pattern_inference = CallFunction(aten.mm.default, KeywordArg('mat1'), KeywordArg('mat2'), _users=0)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet

TEMPLATE: Final = "pattern.py.in"


@dataclass(frozen=True, slots=True)
class Pattern:
    """The graph of a function in one mode, such as inference."""

    function: str
    """The function that was traced; its patterns are in one module."""
    name: str
    """The name of the pattern, with its mode: `mm_pattern_inference`."""
    code: str
    """Python that binds the name to the pattern."""


def emit_patterns(patterns: Iterable[Pattern], imported: Iterable[str], templates: TemplateSet) -> Iterator[OutputFile]:
    """Yield a module for each function, and the `__init__` module of the package.

    `imported` are the names that the patterns' code uses.
    """
    names = [f"{name}," for name in sorted(imported)]
    for function, group in _by_function(patterns).items():
        code = "\n\n\n".join(pattern.code.strip() for pattern in group)
        yield OutputFile(f"{function}.py", templates.render(TEMPLATE, {"imported": names, "patterns": code}))
    yield OutputFile("__init__.py", "")


def _by_function(patterns: Iterable[Pattern]) -> dict[str, Sequence[Pattern]]:
    groups: dict[str, list[Pattern]] = {}
    for pattern in patterns:
        groups.setdefault(pattern.function, []).append(pattern)
    return dict(groups)
