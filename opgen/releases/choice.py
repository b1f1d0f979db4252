"""The definitions and flags of a run → its release of torch.

In order of precedence, the release is from:

1. `--torch-version 2.12`;
2. the source tree with the definitions: `version.txt` of a checkout of torch, or `torch/version.py` beside torchgen;
3. the installed torch;
4. for the packaged definitions, their release; for others, the newest release that opgen knows.

Only the version is read; torch is not imported. Trees of backends may have definitions of an older torch than the
tree around them: unless the flag decides, definitions with a type that a release doesn't have any more are treated
as those of the newest release that has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.frozen_dataclass import dataclass
from opgen.input_files import read_text_if_possible
from opgen.releases.known import known_releases, newest_release, packaged_release
from opgen.releases.release import Release
from opgen.schema.types import BaseTy

TORCH_VERSION_FLAG: Final = "--torch-version"
STABLE_ABI_FLAG: Final = "--stable-abi"

_VERSION: Final = re.compile(r"(\d+)\.(\d+)(?:[.+a-z].*)?", re.ASCII | re.DOTALL)
_ASSIGNMENT: Final = re.compile(r"^__version__[^=\n]*=\s*['\"]([^'\"]+)['\"]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Choice:
    """The release of a run."""

    release: Release
    read: tuple[Path, ...] = ()
    """The file with the version, if any."""


def choose_release(definitions: Path | None, wanted: str | None, log: Diagnostics) -> Choice | None:
    """Choose the release of a run.

    Args:
        definitions: The file or folder of the definitions; None for those packaged with opgen.
        wanted: The version from the flag, if any: `2.12`, or a longer version such as `2.12.1+cpu`.
        log: Gets a warning if the release is newer than any that opgen knows.

    Returns:
        The release; None, with an error logged, if there is no such version or if it is too old.
    """
    if wanted is not None:
        release = _release_of(wanted, f"{TORCH_VERSION_FLAG} says", log)
        return None if release is None else Choice(release)
    for path in version_files(definitions):
        version = _read_version(path)
        if version:
            release = _release_of(version, f"'{path}' says", log)
            return None if release is None else Choice(_release_with_types(release, definitions, log), (path,))
    if definitions is None:
        return Choice(packaged_release())
    return Choice(_release_with_types(newest_release(), definitions, log))


def choose_oldest(wanted: str, log: Diagnostics) -> Release | None:
    """Return the oldest release that a library in the stable ABI supports; None if `wanted` is none.

    Args:
        wanted: The version from the flag: `2.10`.
        log: Gets the reason if there is no such release, and a warning if it is newer than any that opgen knows.
    """
    return _release_of(wanted, f"{STABLE_ABI_FLAG} says", log, flag=STABLE_ABI_FLAG)


def version_files(definitions: Path | None) -> Iterator[Path]:
    """Yield the files that may have the release of the definitions, in order of precedence."""
    if definitions is not None:
        place = definitions.resolve()
        for folder in (place, *place.parents):
            yield from filter(Path.is_file, _version_files_in(folder))
    installed = find_spec("torch")
    if installed is not None:
        places = (Path(place) / "version.py" for place in installed.submodule_search_locations or ())
        yield from filter(Path.is_file, places)


def _version_files_in(folder: Path) -> Iterator[Path]:
    """Yield the files that would have the release of a torch in the folder."""
    if (folder / "torchgen").is_dir() or (folder / "aten").is_dir():
        yield folder / "version.txt"
        yield folder / "torch" / "version.py"


def _read_version(path: Path) -> str:
    """Return the version in a file; empty if there is none."""
    text = read_text_if_possible(path)
    if path.suffix == ".txt":
        return text.strip()
    found = _ASSIGNMENT.search(text)
    return found[1] if found else ""


def _release_of(version: str, who: str, log: Diagnostics, *, flag: str = TORCH_VERSION_FLAG) -> Release | None:
    """Return the release of a version; None, with an error logged, if `flag` can't name it."""
    releases = known_releases()
    oldest, newest = releases[0], releases[-1]
    found = _VERSION.fullmatch(version)
    if found is None:
        advice = f"write it as {newest.name}"
        log.error("torch-version", f"{who} '{version}', which is not a version of torch", label=advice)
        return None
    asked = (int(found[1]), int(found[2]))
    if asked < oldest.version:
        message = f"{who} {version}, but opgen supports torch {oldest.name} and newer"
        named = f"{flag} {oldest.name}"
        advice = f"{named} treats it as {oldest.name}" if flag == TORCH_VERSION_FLAG else f"write {named}"
        log.error("torch-version", message, label=advice)
        return None
    if asked > newest.version:
        message = f"{who} {version}, which is newer than torch {newest.name}, the newest that this opgen knows"
        log.warning("torch-version", message, label=f"it is treated as {newest.name}")
        return newest
    return max((each for each in releases if each.version <= asked), key=lambda each: each.version)


def _release_with_types(release: Release, definitions: Path | None, log: Diagnostics) -> Release:
    """Return the release, or the newest one that still has all types of the definitions."""
    if definitions is None or not release.missing_types:
        return release
    used = _missing_types_in(definitions, release)
    having = [each for each in known_releases() if used and used.isdisjoint(each.missing_types)]
    if not having:
        return release
    names = ", ".join(sorted(f"'{type.name}'" for type in used))
    message = f"the definitions have {names}, so they are treated as those of torch {having[-1].name}"
    log.remark("torch-version", message, label=f"{TORCH_VERSION_FLAG} says which release they are of")
    return having[-1]


def _missing_types_in(definitions: Path, release: Release) -> frozenset[BaseTy]:
    """Return the types in schemas of a file, or of a folder's definitions, that are missing from the release."""
    path = definitions / "native" / "native_functions.yaml" if definitions.is_dir() else definitions
    text = read_text_if_possible(path)
    return frozenset(
        type for type in release.missing_types if re.search(rf"^- func:[^#\n]*[(, ]{type.name}\b", text, re.MULTILINE)
    )
