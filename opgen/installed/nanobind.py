"""The installed nanobind and mlx → an error unless they can pass arrays to each other.

    check_nanobind(log)     error: nanobind 2.12.0 doesn't match mlx 0.32.0 … python -m pip install 'nanobind==2.14.0'

Modules share types only if they were built with the same version of nanobind's *internals*.  mlx has the version
in its module `core`, nanobind in a header.  Both are read as files: nothing is imported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.frozen_dataclass import dataclass

_IN_MODULE: Final = re.compile(rb"\bv(\d+)(?:_dev\d*)?_\w*(?:libstdcpp|libcpp|mscver)")
_IN_HEADER: Final = re.compile(r"#\s*define\s+NB_INTERNALS_VERSION\s+(\d+)")
_HEADER: Final = Path("src") / "nb_abi.h"

NEWEST_WITH: Final[Mapping[int, str]] = MappingProxyType({19: "2.12.0", 20: "2.14.0", 21: "2.15.0"})
"""The newest release of nanobind for each version of its internals."""


@dataclass(frozen=True, slots=True)
class Internals:
    """The installed packages."""

    mlx: int | None
    """The version of nanobind's internals that mlx was built with; None if unknown."""
    nanobind: int | None
    """The version of the installed nanobind's internals; None if unknown."""


def check_nanobind(log: Diagnostics) -> None:
    """Log an error unless mlx and nanobind are installed and match."""
    folders = {name: _folder(name) for name in ("mlx", "nanobind")}
    python = f"{sys.executable} -m pip install"
    if folders["mlx"] is None:
        log.error("mlx-missing", f"mlx isn't installed for {sys.executable}", label=f"{python} 'mlx[cpu]'")
        return
    found = Internals(internals_of_mlx(folders["mlx"]), internals_of_nanobind(folders["nanobind"]))
    if found.mlx is None:
        log.warning("nanobind-unknown", "can't tell which nanobind this mlx works with")
        return
    install = _install_line(python, found.mlx)
    if folders["nanobind"] is None:
        log.error("nanobind-missing", f"nanobind isn't installed for {sys.executable}", label=install)
    elif found.nanobind != found.mlx:
        names = [" ".join([name, *_version(name)]) for name in ("nanobind", "mlx")]
        pair = f"{names[0]} has internals {found.nanobind}, {names[1]} has {found.mlx}"
        message = f"{pair}: arrays can't be passed between them"
        log.error("nanobind-mismatch", message, label=install)


def files_of_nanobind() -> tuple[Path, ...]:
    """Return the existing files that `check_nanobind` reads."""
    mlx, nanobind = _folder("mlx"), _folder("nanobind")
    modules = () if mlx is None else _modules(mlx)
    return (*modules, *(() if nanobind is None else (nanobind / _HEADER,)))


def _install_line(python: str, internals: int) -> str:
    release = NEWEST_WITH.get(internals)
    if release is None:
        return f"install a nanobind whose NB_INTERNALS_VERSION is {internals}"
    return f"{python} 'nanobind=={release}'"


def internals_of_mlx(folder: Path) -> int | None:
    """Return the version of the internals that the module `core` in `folder` was built with."""
    found = (_IN_MODULE.search(path.read_bytes()) for path in _modules(folder))
    return next((int(each.group(1)) for each in found if each is not None), None)


def _modules(folder: Path) -> tuple[Path, ...]:
    return tuple(path for path in sorted(folder.glob("core*")) if path.suffix in (".so", ".pyd"))


def internals_of_nanobind(folder: Path | None) -> int | None:
    """Return the version of the internals according to nanobind's sources."""
    header = None if folder is None else folder / _HEADER
    if header is None or not header.is_file():
        return None
    found = _IN_HEADER.search(header.read_text(encoding="utf-8", errors="replace"))
    return int(found.group(1)) if found is not None else None


def _folder(package: str) -> Path | None:
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _version(package: str) -> tuple[str, ...]:
    try:
        return (version(package),)
    except PackageNotFoundError:
        return ()
