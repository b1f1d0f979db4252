r"""Plain text → C++ tokens that several emitters need.

string_literal('conv(str padding="valid") -> Tensor')   →   "conv(str padding=\"valid\") -> Tensor"
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

_ESCAPES: Final = MappingProxyType(
    {
        **{code: f"\\{code:03o}" for code in (*range(0x20), 0x7F)},
        ord("\\"): "\\\\",
        ord('"'): '\\"',
        ord("\n"): "\\n",
        ord("\r"): "\\r",
        ord("\t"): "\\t",
    }
)
"""Characters that end a literal or a line, and control characters, as three octal digits, which can't be continued."""


def string_literal(text: str) -> str:
    """Return `text` as a C++ string literal."""
    if "\\" in text or '"' in text or not text.isprintable():
        text = text.translate(_ESCAPES)
    return f'"{text}"'
