"""The files of a run → CMake variables that list them.

There is a list for each group of files, named by the group's prefix: for `-o build/generated.cmake`
the variable `generated` in `build/generated.cmake`, `core_generated` in
`build/core_generated.cmake`, and so on.  A group without files has an empty list, so that a build
can include all of them.

    set(
    core_generated
        "out/core/TensorBody.h"
        "out/core/TensorMethods.cpp"
    )
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath
from typing import Final

from opgen.output.files import OutputFile

GROUPS: Final = ("", "cpu_vec_", "cuda_", "core_", "ops_")
"""The lists that every run writes."""
XPU_GROUP: Final = "xpu_"
"""The list that is written only for XPU code."""
ROOT: Final = "dependencies"
"""Root name of the lists: the folder of the path that the user gave."""

_SPECIAL: Final = re.compile(r'[\\"$;]')


def emit_dependencies(
    files: Iterable[OutputFile],
    roots: Mapping[str, str | os.PathLike[str]],
    output: str | os.PathLike[str],
    groups: Iterable[str] = GROUPS,
) -> Iterator[OutputFile]:
    """Yield the lists of `files`, one for each of `groups`, named after the path `output`.

    Paths begin with their root as the user gave it.  Files whose group is None are in no list.
    """
    listed: dict[str, list[str]] = {group: [] for group in groups}
    folders = {name: PurePath(root).as_posix() for name, root in roots.items()}
    for file in files:
        if file.group is not None:
            listed[file.group].append(f"{folders[file.root]}/{file.path}")
    for group, paths in listed.items():
        name = Path(output).name
        text = render_cmake_list(group + PurePath(name).stem, paths)
        yield OutputFile(group + name, text, ROOT, None)


def render_cmake_list(variable: str, paths: Iterable[str]) -> str:
    """Return the CMake command that sets `variable` to `paths`, sorted."""
    items = "".join(f'    "{_SPECIAL.sub(_escape, path)}"\n' for path in sorted(paths))
    return f"set(\n{variable}\n{items})"


def _escape(character: re.Match[str]) -> str:
    return "\\" + character[0]
