"""A folder of heuristics → heuristics that torch uses in this process.

use("heuristics")    →  ("mm",), the decisions that the folder has heuristics for
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

ARTIFACTS: Final = "torch._inductor.autoheuristic.artifacts"
"""The package in which torch looks for heuristics."""
COLLECTOR: Final = "torch._inductor.autoheuristic.autoheuristic"
"""The module of torch that collects measurements and asks heuristics."""
USE_VARIABLE: Final = "TORCHINDUCTOR_AUTOHEURISTIC_USE"


def use(directory: str | os.PathLike[str]) -> tuple[str, ...]:
    """Make torch use the heuristics in a folder, with priority over those in torch.

    Code that Inductor compiled without them is recompiled, since the folder's content becomes part of its cache keys.
    A call with the same folder reloads its files.

    Args:
        directory: the folder that `opgen autoheuristic` wrote to.

    Returns:
        The names of the decisions that the folder has heuristics for.

    Raises:
        FileNotFoundError: the folder has no heuristics.
        ImportError: torch is not installed; other exceptions of a heuristic's module are raised unchanged.
    """
    folder = Path(directory).resolve()
    files = sorted(path for path in folder.glob("_*.py") if path.stem != "__init__")
    if not files:
        raise FileNotFoundError(f"'{directory}' has no heuristics: there is no file _NAME.py")
    allow_missing_gpu(importlib.import_module(COLLECTOR))
    package = importlib.import_module(ARTIFACTS)
    package.__path__[:] = [str(folder), *(place for place in package.__path__ if place != str(folder))]
    importlib.invalidate_caches()
    decisions = sorted({name for file in files for name in _load(file.stem)})
    _forget_loaded_heuristics()
    _turn_on(decisions)
    _mark_caches(files)
    return tuple(decisions)


def _load(module: str) -> Iterator[str]:
    """Reload a module of heuristics; yield the names of its decisions."""
    name = f"{ARTIFACTS}.{module}"
    sys.modules.pop(name, None)
    # Bytecode would stay in the user's folder, and Python may use it for a file that was just rewritten.
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loaded = importlib.import_module(name)
    finally:
        sys.dont_write_bytecode = before
    classes: list[tuple[str, Any]] = inspect.getmembers(loaded, inspect.isclass)
    for _, found in classes:
        if found.__module__ == name and hasattr(found, "get_best_choices"):
            yield found().get_name()


def _forget_loaded_heuristics() -> None:
    """Make torch search for heuristics again when it next needs one."""
    controller = importlib.import_module("torch._inductor.autoheuristic.learned_heuristic_controller")
    controller.LearnedHeuristicController.existing_heuristics.clear()
    controller.LearnedHeuristicController.heuristics_initialized = False


def _turn_on(decisions: list[str]) -> None:
    config = importlib.import_module("torch._inductor.config")
    for name in decisions:
        if hasattr(config.autoheuristic_use, name):
            setattr(config.autoheuristic_use, name, True)
    # torch reads the names of all other decisions from the environment each time; mixed_mm is on by default.
    names = os.environ.get(USE_VARIABLE, "mixed_mm").split(",")
    os.environ[USE_VARIABLE] = ",".join(dict.fromkeys([*names, *decisions]))


def _mark_caches(files: list[Path]) -> None:
    """Add the content of the files to the cache keys of compiled code."""
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    config: Any = importlib.import_module("torch.compiler.config")
    others = [tag for tag in config.cache_key_tag.split(" ") if tag and not tag.startswith("opgen-heuristics=")]
    config.cache_key_tag = " ".join([*others, f"opgen-heuristics={digest}"])


def allow_missing_gpu(collector: Any) -> None:
    """Make torch treat devices without a GPU or Triton as devices without shared memory, instead of failing.

    Args:
        collector: the module `COLLECTOR`.
    """
    original: Callable[[], int] = collector.get_gpu_shared_memory
    if hasattr(original, "__wrapped__"):
        return

    @functools.wraps(original)
    def get_gpu_shared_memory() -> int:
        try:
            return original()
        except (ImportError, RuntimeError):
            return 0

    collector.get_gpu_shared_memory = get_gpu_shared_memory
