"""Tells from a definitions file whether it makes an extension or the sources of ATen.

A file whose operators are all of namespaces other than `aten` makes an extension.  One that has both
kinds makes ATen's sources if there are templates for them, and else an extension, which is then
refused for the operators of ATen's.  The flags --extension and --no-extension settle it otherwise.

    - func: mylib::blend(Tensor self, Tensor other) -> Tensor     →  an extension
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_FUNC: Final = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?func[ \t]*:[ \t]*["']?[ \t]*([A-Za-z_]\w*)(::)?""", re.MULTILINE | re.ASCII
)
_TORCH_NAMESPACE: Final = "aten"


def namespaces_in(definitions: str) -> frozenset[str]:
    """The namespaces of the operators that a definitions file seems to have, before it is read properly."""
    return frozenset(found.group(1) if found.group(2) else _TORCH_NAMESPACE for found in _FUNC.finditer(definitions))


def makes_extension(source_path: Path) -> bool:
    """Whether the definitions in a folder make an extension; no, if they can't be read."""
    try:
        text = (source_path / "native" / "native_functions.yaml").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    namespaces = namespaces_in(text)
    own = namespaces - {_TORCH_NAMESPACE}
    return bool(own) and (own == namespaces or not (source_path / "templates").is_dir())
