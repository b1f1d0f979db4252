"""A program → its measurements: runs a script in this process, with torch changed to collect without a GPU.

    python -m opgen.autoheuristic.collected_program script.py --flags of the script

`opgen autoheuristic collect` starts it, with the environment variables that make torch collect.  The script
runs as under Python: `sys.argv`, `sys.path` and `__name__` are as usual.
"""

from __future__ import annotations

import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

from opgen.autoheuristic.loading import COLLECTOR, allow_missing_gpu


class _CollectorFinder(MetaPathFinder):
    """Finds torch's collector as usual, and patches it after it is loaded.

    torch is not imported before the script does so itself: the script may set variables that torch reads then.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != COLLECTOR:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _CollectorLoader(spec.loader)
        return spec


class _CollectorLoader(Loader):
    """Loads a module with another loader, and then patches it for machines without a GPU."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        allow_missing_gpu(module)


def main(script: str, arguments: Sequence[str]) -> None:
    """Run the script with these arguments."""
    sys.meta_path.insert(0, _CollectorFinder())
    sys.argv = [script, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.abspath(script))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
