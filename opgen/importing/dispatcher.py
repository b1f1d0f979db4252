"""The dispatcher of the installed torch → the operators of a namespace, with the keys of their kernels.

torch doesn't know the names of kernels, so each gets the operator's name.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from opgen.diagnostics import Diagnostics, expected
from opgen.importing.definitions import Imported, Operator, readable_schema

KEYS: Final = (
    *("CPU", "CUDA", "XPU", "MPS", "HPU", "MTIA", "PrivateUse1", "Meta"),
    *("QuantizedCPU", "QuantizedCUDA", "SparseCPU", "SparseCUDA", "SparseCsrCPU", "SparseCsrCUDA", "MkldnnCPU"),
    *("NestedTensorCPU", "NestedTensorCUDA", "FuncTorchBatched"),
    *("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional"),
    *("Autograd", "AutogradCPU", "AutogradCUDA"),
)
"""The keys that are searched for kernels."""


def read_dispatcher(namespace: str, libraries: Sequence[str], log: Diagnostics) -> list[Imported] | None:
    """Load `libraries`, and return the operators of `namespace`; None, with errors logged, if that fails."""
    try:
        torch = importlib.import_module("torch")
    except ImportError as problem:
        log.error("torch-missing", f"--from-ops asks the installed torch, which can't be imported: {problem}")
        return None
    for library in libraries:
        _load(torch, library, log)
    if log.has_errors:
        return None
    names = sorted(n for n in torch._C._dispatch_get_all_op_names() if n.partition("::")[0] == namespace)
    if not names:
        known = {n.partition("::")[0] for n in torch._C._dispatch_get_all_op_names()}
        message = f"nothing is registered under the namespace '{namespace}'"
        log.error("import-nothing", message, label=expected(namespace, known) or "load the library with --load")
        return None
    return [Imported(namespace, tuple(_operators(torch, names, log)))]


def _load(torch: Any, library: str, log: Diagnostics) -> None:
    """Load a library, a file of Python, or a module by its name."""
    path = Path(library)
    try:
        if path.suffix == ".py":
            sys.path.insert(0, os.fspath(path.parent.resolve()))
            importlib.import_module(path.stem)
        elif path.exists():
            torch.ops.load_library(os.fspath(path.resolve()))
        else:
            importlib.import_module(library)
    except Exception as problem:  # loading a library may raise any exception
        log.error("import-load", f"'{library}' can't be loaded: {problem}")


def _operators(torch: Any, names: Sequence[str], log: Diagnostics) -> Iterator[Operator]:
    for qualified in names:
        schema = _schema(torch, qualified)
        problem = "it has no schema" if schema is None else readable_schema(schema)
        if schema is None or problem:
            log.warning("import-unread", f"'{qualified}' is left out: {problem}")
            continue
        yield Operator(schema, dict(_kernels(torch, qualified)), tuple(_tags(torch, qualified)))


def _schema(torch: Any, qualified: str) -> str | None:
    """Return the operator's schema, without its namespace, in a form that torch can parse."""
    name, _, overload = qualified.partition(".")
    found = torch._C._get_schema(name, overload) if torch._C._dispatch_has_kernel(qualified) else None
    text = str(found) if found is not None else _registered_schema(torch, name, overload)
    return None if text is None else _readable(text.partition("::")[2])


def _registered_schema(torch: Any, name: str, overload: str) -> str | None:
    for schema in torch._C._jit_get_schemas_for_operator(name):
        if schema.overload_name == overload:
            return str(schema)
    return None


def _readable(text: str) -> str:
    """Replace syntax that torch prints but can't parse: `$0! -> ` for an alias set, a device without quotes."""
    text = re.sub(r"\((\$(\d+))! -> \)", r"(a\2!)", text)
    return re.sub(r"(Device\??) (\w+)=(?!None)([a-z]+(?::\d+)?)", r'\1 \2="\3"', text)


def _kernels(torch: Any, qualified: str) -> Iterator[tuple[str, str]]:
    name = qualified.partition("::")[2]
    stem = name.replace(".", "_")
    for key in KEYS:
        if torch._C._dispatch_has_kernel_for_dispatch_key(qualified, key):
            yield key, stem if key == "CPU" else f"{stem}_{key.lower()}"


def _tags(torch: Any, qualified: str) -> Iterator[str]:
    name, _, overload = qualified.partition("::")[2].partition(".")
    packet = getattr(getattr(torch.ops, qualified.partition("::")[0]), name)
    operator = getattr(packet, overload or "default")
    return (tag.name for tag in sorted(operator.tags, key=lambda tag: str(tag.name)))
