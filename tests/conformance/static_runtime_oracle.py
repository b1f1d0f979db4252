"""torchgen's generator of the static runtime's operators, for `test_static_runtime`: definitions → its two files.

    python -m tests.conformance.static_runtime_oracle SOURCE OUT

It was written to be started where a library for logging is installed that nobody else has. Here an empty module
stands in its place, and the generated text isn't passed through a formatter.
"""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

LOGGING: Final = "libfb"


class _Silent(ModuleType):
    """A module whose functions do nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: None


class _Finder(MetaPathFinder, Loader):
    """Finds the library that isn't there."""

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> Any:
        return ModuleSpec(fullname, self, is_package=True) if fullname.partition(".")[0] == LOGGING else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Silent(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        pass


def main(source: Path, out: Path) -> None:
    """Writes both files to the folder `out`."""
    sys.meta_path.append(_Finder())
    oracle = importlib.import_module("torchgen.static_runtime.gen_static_runtime_ops")
    oracle.clang_format = lambda _: None  # type: ignore[attr-defined]
    out.mkdir(parents=True, exist_ok=True)
    files = ["-p", str(out / "generated_ops.cpp"), "-t", str(out / "test_generated_ops.cc")]
    sys.argv[1:] = ["-s", str(source), *files]
    oracle.main()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
