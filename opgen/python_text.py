"""Python source → its syntax tree; every failure is a `SyntaxError`.

    parse_python("-" * 100_000 + "x")    →   SyntaxError: it is nested too deep

`ast.parse` raises other errors for deep nesting and illegal characters.
"""

from __future__ import annotations

import ast


def parse_python(text: str) -> ast.Module:
    """Return the tree of a module; raise SyntaxError if there is none."""
    try:
        return ast.parse(text)
    except (ValueError, RecursionError, MemoryError) as problem:
        raise _as_syntax_error(problem) from None


def parse_python_expression(text: str) -> ast.Expression:
    """Return the tree of an expression; raise SyntaxError if there is none."""
    try:
        return ast.parse(text, mode="eval")
    except (ValueError, RecursionError, MemoryError) as problem:
        raise _as_syntax_error(problem) from None


def _as_syntax_error(problem: Exception) -> SyntaxError:
    return SyntaxError(str(problem) if isinstance(problem, ValueError) else "it is nested too deep")
