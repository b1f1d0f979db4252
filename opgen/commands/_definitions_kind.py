"""A folder of definitions → whether they make ATen's sources, an extension or operators of MLX, before they are read.

A file whose operators are all in namespaces other than `aten` makes an extension.  One that has both kinds makes
ATen's sources if there are templates for them beside it or more operators of ATen than others; else an extension,
which then reports the operators of ATen.

    count_namespaces("- func: mylib::blend(Tensor self) -> Tensor")   →   Counter(mylib=1)
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.input_files import read_text
from opgen.mlx import FILE_NAME

_FUNC: Final = re.compile(
    r"""^[ \t]*(?:-[ \t]+)?func[ \t]*:[ \t]*["']?[ \t]*([A-Za-z_]\w*)(::)?""", re.MULTILINE | re.ASCII
)
_TORCH_NAMESPACE: Final = "aten"
_FUNCTIONS: Final = "native/native_functions.yaml"
_TAGS: Final = "native/tags.yaml"


def makes_extension(source: Path) -> bool:
    """Return whether the definitions in a folder make an extension.

    Without tags, which ATen's sources need, definitions that can't be read do: then they are what is reported.
    """
    try:
        text = read_text(source / _FUNCTIONS, errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        text = ""
    has_tags = (source / _TAGS).exists()
    if has_tags and "::" not in text:
        return False  # much faster
    namespaces = count_namespaces(text)
    of_torch = namespaces[_TORCH_NAMESPACE]
    own = namespaces.total() - of_torch
    if own == of_torch == 0:
        return not has_tags
    return own > 0 and (of_torch == 0 or (of_torch < own and not (source / "templates").is_dir()))


def count_namespaces(definitions: str) -> Counter[str]:
    """Return the number of operators of each namespace, from a scan of the text."""
    found = _FUNC.finditer(definitions)
    return Counter(each.group(1) if each.group(2) else _TORCH_NAMESPACE for each in found)


def makes_mlx(source: Path, log: Diagnostics) -> bool:
    """Return whether the definitions in a folder are of MLX; no, with a warning, if there are others too."""
    if not (source / FILE_NAME).is_file():
        return False
    if not (source / _FUNCTIONS).exists():
        return True
    message = f"'{source / FILE_NAME}' is ignored, because '{_FUNCTIONS}' is in the same folder"
    log.warning("several-definitions", message, label="'opgen gen_mlx' reads it")
    return False
