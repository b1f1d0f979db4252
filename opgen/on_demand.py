"""The name of a function → the function, whose module is imported when it is first called.

    emit = OnDemand("opgen.dest.trace_type", "emit_trace_type")
    emit(program, templates)

Emitters are shared among processes: each needs only the modules of those that it runs.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class OnDemand:
    """A function that stands for another one."""

    module: str
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function that is meant."""
        return getattr(importlib.import_module(self.module), self.name)(*args, **kwargs)
