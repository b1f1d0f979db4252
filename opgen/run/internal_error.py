"""An unexpected exception → a bug report with the operator that it is about."""

from __future__ import annotations

import importlib
from types import TracebackType
from typing import Final

from opgen import __version__
from opgen.model import NativeFunction, NativeFunctionsGroup, NativeFunctionsViewGroup

EXIT_CODE: Final = 70
"""What a run ends with that met a bug of opgen's (`EX_SOFTWARE` of sysexits.h)."""


def render_internal_error(error: BaseException) -> str:
    """Return the report: that it is a bug, the operator at hand, and the traceback."""
    operator = _operator_at_hand(error.__traceback__)
    where = f" at the operator '{operator}'" if operator else ""
    # Only bugs need it, and it takes a while to import.
    trace = "".join(importlib.import_module("traceback").format_exception(error))
    return (
        f"opgen: internal error{where}: {type(error).__name__}: {error}\n"
        f"This is a bug in opgen {__version__}, not in your definitions. Please report it with what follows.\n\n{trace}"
    )


def _operator_at_hand(trace: TracebackType | None) -> str | None:
    """Return the operator that the innermost call which had one was working on."""
    found = None
    while trace is not None:
        for value in trace.tb_frame.f_locals.values():
            found = _operator_name(value) or found
        trace = trace.tb_next
    return found


def _operator_name(value: object) -> str | None:
    if isinstance(value, NativeFunctionsGroup):
        value = value.functional
    elif isinstance(value, NativeFunctionsViewGroup):
        value = value.view
    return value.qualified_name if isinstance(value, NativeFunction) else None
