"""What all tests that compile C++ tell the compiler, so that it takes less time and does the same."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.sharing import Share

QUICK: Final = "--param=ggc-min-heapsize=4000000"
"""GCC collects no garbage below four gigabytes, which is a sixth of its time; no file here comes near that."""
TORCH_HEADERS: Final = (
    *("ATen/core/Tensor.h", "ATen/core/dispatch/Dispatcher.h", "ATen/core/op_registration/adaption.h"),
    *("ATen/DeviceGuard.h", "ATen/Dispatch.h", "torch/csrc/autograd/VariableTypeUtils.h"),
    *("torch/csrc/autograd/functions/utils.h", "torch/library.h"),
)
"""Headers of torch's that nearly all sources of an extension include."""
HELPERS: Final = ("check_inplace", "resize_out")
"""What all sources with kernels of a dispatch key define, each for itself."""


def torch_include_folders() -> list[Path]:
    """The folders of the installed torch's headers."""
    spec = importlib.util.find_spec("torch")
    assert spec is not None
    assert spec.submodule_search_locations
    include = Path(spec.submodule_search_locations[0]) / "include"
    return [include, include / "torch" / "csrc" / "api" / "include"]


def torch_include_flags() -> list[str]:
    """Flags that name these folders, without warnings about what is in them."""
    return [f"-isystem{folder}" for folder in torch_include_folders()]


def over_torch_headers(folder: Path) -> list[str]:
    """Flags of g++ for sources that read `TORCH_HEADERS` precompiled, which are half of what it reads.

    The headers are in the folder, which all test processes share. `examples/rational` and new projects are built
    without them, and show that sources include what they need.
    """
    common = Share(folder).folder("torch-headers", _precompile) / "common.h"
    return ["-std=c++20", "-O0", "-fPIC", QUICK, "-include", str(common)]


def _precompile(folder: Path) -> None:
    common = folder / "common.h"
    lines = ["#define AT_PER_OPERATOR_HEADERS", *(f"#include <{header}>" for header in TORCH_HEADERS), ""]
    common.write_text("\n".join(lines), encoding="utf-8")
    flags = ["-std=c++20", "-O0", "-fPIC", QUICK, "-w", *torch_include_flags(), "-x", "c++-header"]
    subprocess.run([os.environ.get("CXX", "c++"), *flags, common, "-o", f"{common}.gch"], check=True)


def together(paths: Sequence[Path], target: Path, mark: str | None = None, helpers: Sequence[str] = ()) -> list[Path]:
    """Sources that each include several of these, so that the compiler does once what headers give it to do.

    Those with the mark define classes or functions of the same names, so there are as many sources as there are of
    them. Helpers are functions that all of them define. The sources are written beside the target, under its name and
    a number.
    """
    if os.environ.get("OPGEN_TEST_ALL"):
        return list(paths)
    sizes = {path: path.stat().st_size for path in paths}
    marked = [path for path in paths if mark and mark in path.read_text(encoding="utf-8")]
    groups = [[path] for path in marked] or [list[Path]()]
    for path in sorted(set(paths) - set(marked), key=lambda path: (-sizes[path], path)):
        min(groups, key=lambda group: sum(map(sizes.__getitem__, group))).append(path)
    made = [target.with_name(f"{target.name}_{index}.cpp") for index in range(len(groups))]
    for source, group in zip(made, groups, strict=True):
        source.write_text("".join(_included(path, helpers) for path in group), encoding="utf-8")
    return made


def _included(path: Path, helpers: Sequence[str]) -> str:
    """The line that includes a source among others; its helpers get names of their own."""
    before = "".join(f"#define {name} {name}_{path.stem}\n" for name in helpers)
    return f'{before}#include "{path}"\n' + "".join(f"#undef {name}\n" for name in helpers)
