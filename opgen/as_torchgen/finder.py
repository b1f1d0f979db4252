"""The name of a module of torchgen → the module of opgen that replaces it.

`install()` adds a finder before all others.  Then `import torchgen.model` imports
`opgen.as_torchgen.model`, an installed torchgen is hidden, and a module of torchgen's that opgen doesn't provide
can't be imported.  `uninstall()` undoes it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import CodeType, ModuleType
from typing import Final

NAME: Final = "torchgen"
_PACKAGE: Final = "opgen.as_torchgen"
_ROOT: Final = Path(__file__).resolve().parents[1] / "__init__.py"
"""The value of `torchgen.__file__`; its folder contains the definitions, as in torchgen."""


def install() -> None:
    """Make `import torchgen` import opgen; further calls have no effect."""
    if installed():
        return
    sys.meta_path.insert(0, _Finder(_take_modules()))


def uninstall() -> None:
    """Undo `install()`: previously imported modules of an installed torchgen are restored."""
    for finder in [each for each in sys.meta_path if isinstance(each, _Finder)]:
        sys.meta_path.remove(finder)
        _take_modules()
        sys.modules.update(finder.hidden)


def installed() -> bool:
    """Return whether `import torchgen` imports opgen."""
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)


def _take_modules() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name == NAME or name.startswith(f"{NAME}.")]
    return {name: sys.modules.pop(name) for name in names}


def _installed_folders() -> list[str]:
    """Return the folder of the installed torchgen, for its definitions; nothing is imported from there."""
    spec = PathFinder.find_spec(NAME)
    return list(spec.submodule_search_locations or ()) if spec is not None else []


class _Finder(MetaPathFinder):
    """Finds only torchgen and its modules."""

    def __init__(self, hidden: dict[str, ModuleType]) -> None:
        self.hidden = hidden
        """The modules of the installed torchgen that had been imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of torchgen; None for others.  Raises ModuleNotFoundError if there is none."""
        del path, target
        if fullname == NAME:
            spec = ModuleSpec(NAME, _RootLoader(), origin=str(_ROOT), is_package=True)
            spec.has_location = True
            spec.submodule_search_locations = _installed_folders()
            return spec
        if not fullname.startswith(f"{NAME}."):
            return None
        own = _PACKAGE + fullname.removeprefix(NAME)
        found = importlib.util.find_spec(own) if own.rpartition(".")[2] not in _OWN_MODULES else None
        if found is None:
            message = f"opgen doesn't provide '{fullname}': docs/library.md lists the modules of torchgen that it does"
            raise ModuleNotFoundError(message, name=fullname)
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, _Loader(own), origin=found.origin, is_package=is_package)


_OWN_MODULES: Final = frozenset({"__main__", "finder", "facade", "errors", "programs"})
"""Modules of this package without a counterpart in torchgen."""


class _RootLoader(InspectLoader):
    """Loads `torchgen` itself, which contains only its modules."""

    def get_source(self, fullname: str) -> str:
        del fullname
        return ""


class _Loader(InspectLoader):
    """Loads one of opgen's modules under torchgen's name: it is the same module."""

    def __init__(self, own: str) -> None:
        self.own = own

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        del spec
        module = importlib.import_module(self.own)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has just overwritten it

    def get_source(self, fullname: str) -> str | None:
        del fullname
        spec = importlib.util.find_spec(self.own)
        return spec.loader.get_source(self.own) if spec and isinstance(spec.loader, InspectLoader) else None

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the module's code, for `python -m`."""
        del fullname
        spec = importlib.util.find_spec(self.own)
        return spec.loader.get_code(self.own) if spec and isinstance(spec.loader, InspectLoader) else None
