r"""Plain values → YAML that any reader reads as the same values, several times as fast as PyYAML.

Strings are plain if they are unambiguous in both YAML 1.1 and 1.2, and quoted otherwise.

    scalar("at::Tensor")   at::Tensor         scalar(True)     true
    scalar("yes")          'yes'              scalar(1e-05)    1.0e-05
    scalar("a\n")          "a\n"              scalar(None)     null
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

Scalar: TypeAlias = "str | int | float | bool | None"

_PLAIN: Final[Callable[[str], re.Match[str] | None]] = re.compile(
    # A colon may not be followed by a space, nor a space by '#' or by the end.
    r"(?!(?:y|n|yes|no|on|off|true|false|null)\Z)[A-Z_](?:[-\w.,;<>()\[\]{}&*!?=|/+\"']|:(?=[^\s])| (?=[^\s#]))*\Z",
    re.ASCII | re.IGNORECASE,
).match
_UNPRINTABLE: Final = re.compile(r"[^ -~\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


def scalar(value: Scalar) -> str:
    """Return `value` as one line of YAML."""
    if isinstance(value, str):
        return value if _PLAIN(value) else _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else _float(value)


def mapping(items: Mapping[str, Scalar], indent: str) -> str:
    """Return `items` as the lines of an element of a list that is indented by `indent`."""
    lines = f"\n{indent}  ".join([f"{key}: {scalar(value)}" for key, value in items.items()])
    return f"{indent}- {lines}\n"


def sequence(key: str, elements: Iterable[str], indent: str) -> str:
    """Return a key with a list of elements, given as whole lines."""
    lines = "".join(elements)
    return f"{indent}{key}:\n{lines}" if lines else f"{indent}{key}: []\n"


def _quoted(text: str) -> str:
    if not _UNPRINTABLE.search(text):
        return "'" + text.replace("'", "''") + "'"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _UNPRINTABLE.sub(lambda match: f"\\U{ord(match[0]):08x}", escaped) + '"'


def _float(value: float) -> str:
    if math.isfinite(value):
        digits, exponent, power = repr(value).partition("e")
        # YAML 1.1 reads `1e-05` as a string.
        point = "" if "." in digits else ".0"
        sign = "" if not exponent or power.startswith("-") else "+"
        return f"{digits}{point}{exponent}{sign}{power.removeprefix('+')}"
    return ".nan" if math.isnan(value) else ".inf" if value > 0 else "-.inf"
