"""A name → the module of the installed torch, for generators that need it.

    torch = import_torch("torch", "gen_mobile_upgraders", log)    →  the module, or None, with the fix logged
    torch_files()                                                 →  its files, which are inputs of the run

Nothing else in opgen imports torch: it takes seconds, and no other generator needs it.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from opgen.diagnostics import Diagnostics


def import_torch(module: str, command: str, log: Diagnostics) -> Any:
    """Return a module of torch for the command that needs it; None, with an error logged, if it can't be imported."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        has_none = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        problem = f"{sys.executable} has none" if has_none else f"{module} can't be imported: {error}"
        advice = f"install it: {sys.executable} -m pip install torch"
        log.error("torch-missing", f"opgen {command} needs an installed torch, and {problem}", label=advice)
        return None


def torch_files() -> tuple[Path, ...]:
    """Return the Python files of torch that were imported, `torch/version.py` among them.

    Its libraries are excluded: hashing a gigabyte takes longer than the run, and each build has a different version.
    """
    files = {
        Path(file)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == "torch" and (file := getattr(module, "__file__", None)) and file.endswith(".py")
    }
    return tuple(sorted(files))
