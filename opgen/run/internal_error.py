"""An unexpected exception → a bug report that names the operator being processed."""

from __future__ import annotations

import importlib
from types import TracebackType
from typing import Final

from opgen import __version__
from opgen.model import NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup

EXIT_CODE: Final = 70
"""The exit code after a bug in opgen (`EX_SOFTWARE` of sysexits.h)."""


def render_internal_error(error: BaseException) -> str:
    """Return the report: the operator being processed, and the traceback."""
    operator = _current_operator(error.__traceback__)
    where = f" at the operator '{operator}'" if operator else ""
    # Imported on demand, since the import is slow and only bugs need it.
    trace = "".join(importlib.import_module("traceback").format_exception(error))
    return (
        f"opgen: internal error{where}: {type(error).__name__}: {error}\n"
        f"This is a bug in opgen {__version__}, not in your definitions. Please report it with what follows.\n\n{trace}"
    )


def _current_operator(trace: TracebackType | None) -> str | None:
    """Return the operator that the innermost frame with an operator was processing."""
    name = None
    while trace is not None:
        for value in trace.tb_frame.f_locals.values():
            name = _operator_name(value) or name
        trace = trace.tb_next
    return name


def _operator_name(value: object) -> str | None:
    if isinstance(value, NativeFunctionsGroup):
        value = value.functional
    elif isinstance(value, NativeFunctionsViewGroup):
        value = value.view
    return value.qualified_name if isinstance(value, NativeFunction) else None
