"""Flags → the files that a run reads: the user's, opgen's own, or those of the installed torch.

    find_inputs(None, from_torch=False, log)         opgen's own definitions and templates
    find_inputs(Path("ATen"), from_torch=False, log) ATen/native/*.yaml, and ATen/templates or else opgen's own
    find_inputs(None, from_torch=True, log)          the definitions of the installed torch

No file is read, and torch is not imported.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics, Note, Source
from opgen.frozen_dataclass import dataclass
from opgen.near_paths import nearest_path
from opgen.releases.choice import version_files

SOURCE_PATH_FLAG: Final = "--source-path"
FROM_TORCH_FLAG: Final = "--from-torch"

_HERE: Final = Path(__file__).resolve().parent.parent
_MLX_DEFINITIONS: Final = "mlx_ops.yaml"
_DEFINITIONS: Final = ("native/native_functions.yaml", "native/tags.yaml")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of one run of the ATen generator."""

    functions: Path | Source
    """The operators."""
    tags: Path | Source
    """The tags that they may have."""
    templates: Path
    """The folder of templates."""

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that a run reads, including those that give the version of torch and the templates folder."""
        paths = [path for path in (self.functions, self.tags) if isinstance(path, Path)]
        if isinstance(self.functions, Path):
            paths.append(self.functions.parent.parent / "templates")
            paths += islice(version_files(self.functions), 1)
        return tuple(paths)


def find_inputs(source: Path | None, log: Diagnostics, *, from_torch: bool = False) -> Inputs | None:
    """Return the inputs that the flags select; None, with the searched paths logged, if one is missing."""
    if source is not None:
        return _inputs_below(source, log, f"{SOURCE_PATH_FLAG} names the folder of native/ and, optionally, templates/")
    if not from_torch:
        return _inputs_below(packaged_folder("ATen"), log, "data of opgen itself is missing: reinstall opgen")
    folder = _torch_definitions(log)
    if folder is None:
        return None
    return _inputs_below(folder, log, f"{FROM_TORCH_FLAG} reads what comes with the installed torch")


def packaged_folder(name: str) -> Path:
    """Return the folder of the definitions in opgen's package: `ATen` or `autograd`."""
    return _HERE / "packaged" / name


def packaged_templates(name: str) -> tuple[Path, ...]:
    """Return the candidate folders of opgen's templates for `ATen` or `autograd`.

    In a wheel they are in the package, in a checkout beside it.
    """
    return _HERE / "packaged" / "templates" / name, _HERE.parent / "templates" / name


def autograd_templates(folder: Path) -> Path:
    """Return the templates folder next to the derivatives in `folder`, or else opgen's own."""
    candidates = (folder / "templates", *packaged_templates("autograd"))
    return next(filter(Path.is_dir, candidates), candidates[0])


def _inputs_below(folder: Path, log: Diagnostics, advice: str) -> Inputs | None:
    functions, tags = (folder / name for name in _DEFINITIONS)
    candidates = (folder / "templates", *packaged_templates("ATen"))
    templates = next(filter(Path.is_dir, candidates), None)
    missing = [name for name, path in zip(_DEFINITIONS, (functions, tags), strict=True) if not path.exists()]
    searched = [folder / name for name in missing]
    if templates is None:
        missing.append("templates")
        searched += candidates
    if missing:
        what = f"'{folder}' has no" if folder.is_dir() else f"there is no folder '{folder}' with"
        if folder.is_file():
            what = f"'{folder}' is a file, not a folder with"
        near = _nearest_definitions(folder)
        advice = advice if near is None else f"did you mean '{near}'?  {advice}"
        _log_missing(log, f"{what} {' and '.join(missing)}", advice, searched)
    return None if templates is None or missing else Inputs(functions, tags, templates)


def _nearest_definitions(folder: Path) -> Path | None:
    """Return the folder with definitions that was most likely meant: a similar name, the parent or a child."""
    near = nearest_path(folder) or folder
    candidates = (near, near.parent, near.parent.parent, *(sorted(near.iterdir()) if near.is_dir() else ()))
    files = (_DEFINITIONS[0], _MLX_DEFINITIONS)
    return next(
        (each for each in candidates if each != folder and any((each / file).is_file() for file in files)), None
    )


def installed_definitions() -> Path | None:
    """Return the folder of the definitions of the torch that is installed for this Python; None if there is none."""
    # torchgen is installed beside torch, and find_spec() finds it without an import, which would take seconds.
    spec = find_spec("torchgen")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "packaged" / "ATen"


def _torch_definitions(log: Diagnostics) -> Path | None:
    """Return the definitions of the installed torch; None, with an error logged, if there is none."""
    folder = installed_definitions()
    if folder is not None:
        return folder
    message = f"{FROM_TORCH_FLAG} needs an installed torch, and {sys.executable} has none"
    advice = f"install it: {sys.executable} -m pip install torch"
    _log_missing(log, message, advice, dict.fromkeys(Path(place or ".") / "torchgen" for place in sys.path))
    return None


def _log_missing(log: Diagnostics, message: str, advice: str, searched: Iterable[Path]) -> None:
    notes = [Note(f"looked for '{path}'") for path in searched]
    log.error("missing-file", message, label=advice, notes=notes)
