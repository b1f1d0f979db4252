"""The files of a run → lists of files for builds: CMake variables, and JSON for setuptools.

For `-o build/sources.cmake` there is `build/sources.cmake`, with a variable for each kind of file, and
`build/sources.json` with the same lists.  `sources` are to be compiled, and include `included_sources`.
Sources for a device type have a separate list, since they need its toolkit, and so have those of the Python module.

    set(opgen_sources "out/Unit_0.cpp" …)
    set(opgen_included_sources "out/RegisterSchema.cpp" …)
    set(opgen_cuda_sources "out/RegisterCUDA.cpp" …)
    set(opgen_devices "cuda")
    set(opgen_definitions "TORCH_TARGET_VERSION=0x020a000000000000ULL")
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Final

from opgen.extension.python_bindings import BINDINGS_GROUP
from opgen.extension.units import INCLUDED_GROUP
from opgen.output.dependencies import render_cmake_list
from opgen.output.files import OutputFile

ROOT: Final = "lists"
"""The root name of the lists: the folder of the user's path."""

_LISTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **dict.fromkeys((".cpp", ".cu", ".mm"), "sources"),
        ".h": "headers",
        **dict.fromkeys((".py", ".pyi", ".typed"), "python"),
    }
)
"""The list for each suffix; a file's group is a prefix of the list's name."""


def emit_source_lists(
    files: Iterable[OutputFile], roots: Mapping[str, Path], output: Path, *, definitions: Sequence[str] = ()
) -> Iterator[OutputFile]:
    """Yield the lists of `files`, which are in the folders `roots`, and the macro definitions for compiling sources."""
    lists = source_lists(files, roots)
    lists["definitions"] = list(definitions)
    kinds = [name.removesuffix("_sources") for name in lists if name.endswith("_sources")]
    devices = [kind for kind in kinds if f"{kind}_" not in (BINDINGS_GROUP, INCLUDED_GROUP)]
    variables = {"devices": devices, **lists}
    cmake = "\n".join([render_cmake_list(f"opgen_{name}", values) for name, values in variables.items()]) + "\n"
    yield OutputFile(output.name, cmake, ROOT, None)
    yield OutputFile(
        str(PurePosixPath(output.name).with_suffix(".json")), json.dumps(lists, indent=2) + "\n", ROOT, None
    )


def source_lists(files: Iterable[OutputFile], roots: Mapping[str, Path]) -> dict[str, list[str]]:
    """Return the files by kind, such as `headers` and `cuda_sources`; paths begin with the root's folder."""
    lists: dict[str, list[str]] = {"headers": [], "sources": [], "python": []}
    for file in files:
        suffix = PurePosixPath(file.path).suffix
        assert suffix in _LISTS, f"no list of files is for '{file.path}': add its suffix to {__name__}"
        name = f"{file.group or ''}sources" if _LISTS[suffix] == "sources" else _LISTS[suffix]
        lists.setdefault(name, []).append(f"{roots[file.root].as_posix()}/{file.path}")
    return {name: sorted(paths) for name, paths in lists.items()}
