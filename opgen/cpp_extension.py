"""Builds extensions with `torch.utils.cpp_extension`: in a setup.py, or straight from a program.

    from opgen.cpp_extension import generated_extension
    setup(ext_modules=[generated_extension("mylib._C", "ops", ["kernels.cpp"])], cmdclass={"build_ext": BuildExtension})

    from opgen.cpp_extension import load
    load("mylib", "ops", ["kernels.cpp"])       # compiles, and loads torch.ops.mylib

Both run the generator first; what it finds unchanged it leaves alone, so nothing is compiled twice.
torch and setuptools are imported when they are asked for: opgen itself needs neither.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from opgen import aten

__all__ = ["GenerationError", "generate_sources", "generated_extension", "load"]

_LISTS: Final = "sources.cmake"
_TORCH: Final = "torch.utils.cpp_extension"


class GenerationError(Exception):
    """The definitions are wrong; what is wrong with them has been said on stderr."""


def generate_sources(
    definitions: str | os.PathLike[str], output: str | os.PathLike[str], *, flags: Sequence[str] = ()
) -> Mapping[str, list[str]]:
    """Writes the C++ of an extension below `output`, and lists it: `sources`, `cuda_sources`, `headers`, …"""
    folder = Path(output)
    lists = folder / _LISTS
    folder.mkdir(parents=True, exist_ok=True)
    where = ("--source-path", os.fspath(definitions), "--install-dir", os.fspath(folder))
    if aten.main([*where, "--extension", "--quiet", "-o", os.fspath(lists), *flags]):
        raise GenerationError(f"no extension can be made of '{os.fspath(definitions)}'")
    found: Mapping[str, list[str]] = json.loads(lists.with_suffix(".json").read_text(encoding="utf-8"))
    return found


def _paths(files: Sequence[str | os.PathLike[str]]) -> list[str]:
    return [os.fspath(file) for file in files]


def generated_extension(
    name: str,
    definitions: str | os.PathLike[str],
    sources: Sequence[str | os.PathLike[str]],
    *,
    cuda_sources: Sequence[str | os.PathLike[str]] = (),
    output: str | os.PathLike[str] = "build/generated",
    include_dirs: Sequence[str] = (),
    flags: Sequence[str] = (),
    **settings: Any,
) -> Any:
    """A `CppExtension`, or a `CUDAExtension` where torch has CUDA and there are sources for it.

    `settings` are torch's and setuptools' own: `extra_compile_args`, `define_macros`, …
    """
    cpp_extension = importlib.import_module(_TORCH)
    made = generate_sources(definitions, output, flags=flags)
    files = [*made["sources"], *_paths(sources)]
    kind = cpp_extension.CppExtension
    if cuda_sources and cpp_extension.CUDA_HOME is not None:
        kind = cpp_extension.CUDAExtension
        files += [*made.get("cuda_sources", ()), *_paths(cuda_sources)]
    settings.setdefault("extra_compile_args", {"cxx": ["-std=c++20"], "nvcc": ["-std=c++20"]})
    folders = [os.path.abspath(output), *map(os.path.abspath, include_dirs)]
    return kind(name, files, include_dirs=folders, **settings)


def load(
    name: str,
    definitions: str | os.PathLike[str],
    sources: Sequence[str | os.PathLike[str]],
    *,
    build_directory: str | os.PathLike[str] = "build",
    include_dirs: Sequence[str] = (),
    flags: Sequence[str] = (),
    **settings: Any,
) -> str:
    """Compiles an extension and loads its operators, `torch.ops.<library>`; returns the library's path."""
    cpp_extension = importlib.import_module(_TORCH)
    folder = Path(build_directory).resolve()
    made = generate_sources(definitions, folder / "generated", flags=flags)
    settings.setdefault("extra_cflags", ["-std=c++20"])
    path: str = cpp_extension.load(
        name,
        [*made["sources"], *_paths(sources)],
        extra_include_paths=[os.fspath(folder / "generated"), *map(os.path.abspath, include_dirs)],
        build_directory=os.fspath(folder),
        is_python_module=False,
        **settings,
    )
    return path
