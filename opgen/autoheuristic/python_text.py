"""Texts → the Python literals and comments that formatters leave as they are."""

from __future__ import annotations


def quoted(text: str) -> str:
    """Return the literal of a text: in double quotes unless it contains some."""
    literal = repr(text)
    return literal if '"' in literal else f'"{literal[1:-1]}"'


def in_comment(text: str) -> str:
    """Return the text with all characters escaped that could end a comment's line."""
    return text if text.isprintable() else repr(text)[1:-1]
