r"""Turns plain text into C++ tokens, where several emitters need the same ones.

string_literal('conv(str padding="valid") -> Tensor')   →   "conv(str padding=\"valid\") -> Tensor"
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_ESCAPES: Final = MappingProxyType(
    {
        ord("\\"): "\\\\",
        ord('"'): '\\"',
        ord("\n"): "\\n",
        ord("\r"): "\\r",
        ord("\t"): "\\t",
    }
)


def string_literal(text: str) -> str:
    """`text` as a C++ string literal."""
    if "\\" in text or '"' in text or not text.isprintable():
        text = text.translate(_ESCAPES)
    return f'"{text}"'
