"""A folder of definitions → what to generate: ATen's sources, an extension or operators of MLX.

If no operator is in the namespace `aten`, opgen generates an extension.  If only some are, it generates ATen's sources
if the folder has templates or most operators are in `aten`; otherwise an extension, which reports those in `aten`.

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
    """Return whether to generate an extension from the definitions in a folder.

    Definitions that can't be read count as an extension if the folder has no tags, which ATen's sources need.
    """
    try:
        text = read_text(source / _FUNCTIONS, errors="replace")
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        text = ""
    has_tags = (source / _TAGS).exists()
    if has_tags and "::" not in text:
        return False  # fast path: no operator has a namespace
    namespaces = count_namespaces(text)
    aten_count = namespaces[_TORCH_NAMESPACE]
    other_count = namespaces.total() - aten_count
    if other_count == aten_count == 0:
        return not has_tags
    return other_count > 0 and (aten_count == 0 or (aten_count < other_count and not (source / "templates").is_dir()))


def count_namespaces(definitions: str) -> Counter[str]:
    """Return the number of operators of each namespace, from a scan of the text."""
    matches = _FUNC.finditer(definitions)
    return Counter(match.group(1) if match.group(2) else _TORCH_NAMESPACE for match in matches)


def makes_mlx(source: Path, log: Diagnostics) -> bool:
    """Return whether a folder defines MLX operators; if it also defines PyTorch operators, warn and return False."""
    if not (source / FILE_NAME).is_file():
        return False
    if not (source / _FUNCTIONS).exists():
        return True
    message = f"'{source / FILE_NAME}' is ignored, because '{_FUNCTIONS}' is in the same folder"
    log.warning("several-definitions", message, label="'opgen gen_mlx' reads it")
    return False
