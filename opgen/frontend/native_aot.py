"""A folder of `<operator>/aot.py` → the operators with kernels that are compiled ahead of time, and their keys.

torch 2.15 declares such kernels in Python modules. Two constants of a module name the operator and the dispatch key;
opgen reads these and doesn't run the module.

    ATEN_OP = "topk"
    DISPATCH_KEY = "CUDA"        ->   ("topk", DispatchKey.CUDA)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics, did_you_mean
from opgen.input_files import read_text
from opgen.model import DispatchKey
from opgen.program.program import Program
from opgen.python_text import parse_python

FLAG: Final = "--native-aot-ops-dir"
MODULE: Final = "aot.py"

_OPERATOR: Final = "ATEN_OP"
_KEY: Final = "DISPATCH_KEY"


def native_aot_modules(folder: Path) -> tuple[Path, ...]:
    """Return the modules below a folder that declare kernels."""
    return tuple(sorted(folder.glob(f"*/{MODULE}")))


def load_native_aot(folder: Path, program: Program, log: Diagnostics) -> frozenset[tuple[str, DispatchKey]]:
    """Return the names of functional forms that have kernels, and their keys; errors are logged."""
    return frozenset(kernel for path in native_aot_modules(folder) for kernel in _read(path, program, log))


def _read(path: Path, program: Program, log: Diagnostics) -> Iterator[tuple[str, DispatchKey]]:
    try:
        constants = _constants(parse_python(read_text(path)))
    except SyntaxError as problem:
        log.error("native-aot", f"'{path}': line {problem.lineno} isn't valid Python")
        return
    except (OSError, ValueError) as problem:
        log.error("native-aot", f"'{path}' can't be read: {problem}")
        return
    structured = {group.functional.func.name.text for group in program.structured_groups}
    name, key = constants.get(_OPERATOR, ""), constants.get(_KEY, "")
    if name not in structured:
        label = did_you_mean(name, structured)
        log.error("native-aot", f"'{path}': {_OPERATOR} is '{name}', not a structured operator", label=label)
    elif key not in DispatchKey.__members__:
        label = did_you_mean(key, DispatchKey.__members__)
        log.error("native-aot", f"'{path}': {_KEY} is '{key}', not a dispatch key", label=label)
    else:
        yield name, DispatchKey[key]


def _constants(module: ast.Module) -> dict[str, str]:
    """Return the string constants of a module by name."""
    return {
        target.id: statement.value.value
        for statement in module.body
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
        for target in statement.targets
        if isinstance(target, ast.Name) and isinstance(statement.value.value, str)
    }
