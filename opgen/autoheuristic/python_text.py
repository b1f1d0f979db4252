"""Strings → Python literals and comments that formatters don't change."""

from __future__ import annotations


def quoted(text: str) -> str:
    """Return a string literal, in double quotes unless the string contains some."""
    literal = repr(text)
    return literal if '"' in literal else f'"{literal[1:-1]}"'


def in_comment(text: str) -> str:
    """Return the string with characters escaped that could end a comment."""
    return text if text.isprintable() else repr(text)[1:-1]
