"""A definitions file → whether it makes ATen's sources or an extension, as far as can be told before it is read.

A file whose operators are all of namespaces other than `aten` makes an extension.  One that has both
kinds makes ATen's sources, if there are templates for them beside it or more operators of ATen's than
others; else an extension, which is then refused for the operators of ATen's.

    count_namespaces("- func: mylib::blend(Tensor self) -> Tensor")   →   Counter(mylib=1)
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

_FUNC: Final = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?func[ \t]*:[ \t]*["']?[ \t]*([A-Za-z_]\w*)(::)?""", re.MULTILINE | re.ASCII
)
_TORCH_NAMESPACE: Final = "aten"
_FUNCTIONS: Final = "native/native_functions.yaml"


def makes_extension(source: Path) -> bool:
    """Whether the definitions in a folder make an extension; no, if they can't be read."""
    try:
        text = (source / _FUNCTIONS).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    if "::" not in text:
        return False  # much the faster to tell
    namespaces = count_namespaces(text)
    of_torch = namespaces[_TORCH_NAMESPACE]
    own = namespaces.total() - of_torch
    return own > 0 and (of_torch == 0 or (of_torch < own and not (source / "templates").is_dir()))


def count_namespaces(definitions: str) -> Counter[str]:
    """How many operators of each namespace a definitions file seems to have, before it is read properly."""
    found = _FUNC.finditer(definitions)
    return Counter(each.group(1) if each.group(2) else _TORCH_NAMESPACE for each in found)
