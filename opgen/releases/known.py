"""The releases that opgen knows: a version → its `Release`, from the module `v<major>_<minor>` of this package.

known_releases()            (V2_10, V2_11, …), oldest first
newest_release()            the last of them
packaged_release()          the one whose definitions come with opgen
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Final

from opgen.releases.release import Release

_MODULE: Final = re.compile(r"(v\d+_\d+)\.py")
_PACKAGED: Final = (2, 13)
"""The release that `opgen/packaged` holds the definitions of."""


def known_releases() -> tuple[Release, ...]:
    """Return every release that has a module here, oldest first."""
    names = (_MODULE.fullmatch(path.name) for path in Path(__file__).parent.iterdir())
    modules = (importlib.import_module(f"{__package__}.{found[1]}") for found in names if found)
    releases: list[Release] = [getattr(module, module.__name__.rpartition(".")[2].upper()) for module in modules]
    return tuple(sorted(releases, key=lambda release: release.version))


def newest_release() -> Release:
    """Return the newest release that opgen knows."""
    return known_releases()[-1]


def packaged_release() -> Release:
    """Return the release whose definitions come with opgen."""
    return next(release for release in known_releases() if release.version == _PACKAGED)


def describe_releases() -> str:
    """Return the names of all releases, for `--version`: `torch 2.10, 2.11, 2.12`."""
    return f"torch {', '.join(release.name for release in known_releases())}"
