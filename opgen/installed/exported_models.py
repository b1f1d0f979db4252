"""A saved model → the operators that it calls and the classes that it uses, read with the installed torch.

    read_model(Path("model.ptl"), log)   →   ExportedModel("lite interpreter", ("aten::linear", …), ())

The contents of the file determine its kind: bytecode of the lite interpreter, TorchScript, or the output of
`torch.export.save`.  torch is imported when a function here is called.
"""

from __future__ import annotations

import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from opgen.diagnostics import Diagnostics, Note
from opgen.frozen_dataclass import dataclass
from opgen.installed.location import import_torch

LITE: Final = "lite interpreter"
SCRIPT: Final = "TorchScript"
EXPORTED: Final = "torch.export"

_CLASS: Final = re.compile(rb"__torch__\.torch\.classes\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)")
_COMMAND: Final = "select"
_DEFAULT: Final = "default"
"""Torch's name for the overload without a name."""


@dataclass(frozen=True, slots=True)
class ExportedModel:
    """The operators and classes that a build must keep to run a model."""

    kind: str
    operators: tuple[str, ...]
    """Operators with namespace and overload, sorted."""
    classes: tuple[str, ...]
    """TorchBind classes with their namespace, sorted."""


@dataclass(frozen=True, slots=True)
class RegisteredOperators:
    """The operators of the installed torch."""

    dispatched: frozenset[str]
    """Operators of the dispatcher."""
    interpreted: frozenset[str]
    """Operators of TorchScript's interpreter, which aren't in the definitions."""


def registered_operators(log: Diagnostics) -> RegisteredOperators | None:
    """Return the operators of the installed torch; None, with an error logged, without torch."""
    torch = import_torch("torch", _COMMAND, log)
    if torch is None:
        return None
    native = torch._C
    dispatched = frozenset(native._dispatch_get_all_op_names())
    every = (_full_name(schema.name, schema.overload_name) for schema in native._jit_get_all_schemas())
    return RegisteredOperators(dispatched, frozenset(every) - dispatched)


def load_libraries(paths: Sequence[Path], log: Diagnostics) -> None:
    """Load libraries that register operators of models."""
    torch = import_torch("torch", _COMMAND, log) if paths else None
    if torch is None:
        return
    for path in paths:
        try:
            torch.ops.load_library(path)
        except OSError as problem:
            reason = problem.__cause__ or problem
            log.error("unreadable-file", f"can't load the library '{path}': {_first_line(reason)}")


def read_model(path: Path, log: Diagnostics) -> ExportedModel | None:
    """Return the operators and classes of a saved model; None, with errors logged, if it can't be read."""
    try:
        names, classes = _look_into(path)
    except (OSError, zipfile.BadZipFile) as problem:
        reason = problem.strerror if isinstance(problem, OSError) and problem.strerror else "it is not a zip archive"
        log.error("unreadable-model", f"can't read the model '{path}': {reason}", notes=_ADVICE)
        return None
    kind = _kind_of(names)
    if kind is None:
        log.error("unreadable-model", f"'{path}' has no operators: it is not an exported model", notes=_ADVICE)
        return None
    module, read = _READERS[kind]
    library = import_torch(module, _COMMAND, log)
    if library is None:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's warning for programs that save models
            operators = sorted(set(read(library, str(path))))
    except Exception as problem:  # torch may raise any exception, mostly RuntimeError
        log.error("unreadable-model", f"torch can't load the model '{path}': {_first_line(problem)}", notes=_MORE)
        return None
    return ExportedModel(kind, tuple(operators), classes)


_ADVICE: Final = (Note("save models with torch.jit.save, _save_for_lite_interpreter or torch.export.save"),)
_MORE: Final = (Note("--load-library names libraries with operators of your own"),)


def _look_into(path: Path) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of the files in the archive, and the classes that they mention."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        texts = (name for name in names if name.endswith((".py", ".json", "/bytecode.pkl")))
        found = {match.decode() for name in texts for match in _CLASS.findall(archive.read(name))}
    return names, tuple(sorted(found))


def _kind_of(names: Iterable[str]) -> str | None:
    """Return the kind of model that has these files in its archive."""
    # All are in one folder, named after the model.
    inner = {name.partition("/")[2] for name in names}
    if "bytecode.pkl" in inner:
        return LITE
    if any(name.startswith("models/") and name.endswith(".json") for name in inner):
        return EXPORTED
    return SCRIPT if any(name.startswith("code/") for name in inner) else None


def _lite_operators(mobile: Any, path: str) -> Iterator[str]:
    yield from mobile._get_model_ops_and_info(path)


def _script_operators(jit: Any, path: str) -> Iterator[str]:
    yield from jit.export_opnames(jit.load(path, map_location="cpu"))


def _exported_operators(export: Any, path: str) -> Iterator[str]:
    """Yield the operators of an exported program, those of nested graphs included."""
    for module in export.load(path).graph_module.modules():
        graph = getattr(module, "graph", None)
        for node in () if graph is None else graph.nodes:
            yield from _overload_names(node.target)


def _overload_names(target: Any) -> Iterator[str]:
    """Return the name of the operator that a node calls; empty if it calls something else."""
    schema = getattr(target, "_schema", None)
    if schema is not None and hasattr(target, "overloadpacket"):
        yield _full_name(schema.name, schema.overload_name)


_READERS: Final = MappingProxyType(
    {
        LITE: ("torch.jit.mobile", _lite_operators),
        SCRIPT: ("torch.jit", _script_operators),
        EXPORTED: ("torch.export", _exported_operators),
    }
)
"""For each kind of model, the module and the function that load it."""


def _full_name(name: str, overload: str) -> str:
    return f"{name}.{overload}" if overload and overload != _DEFAULT else name


def _first_line(problem: BaseException) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[0] if lines else type(problem).__name__
