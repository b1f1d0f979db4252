"""Tables of emitters: one row for each family of output files of a command.

    EMITTERS = (Emitter("schemas", OnDemand("opgen.dest.register_schema", "emit_register_schema")), …)
    bind(EMITTERS, program, options, templates)     →  the same rows, with their arguments bound
    collect_files(bind(…))                          →  the files of all rows, in order

An emitter is a function that yields `OutputFile`s.  A table may name it with `OnDemand`: its module is imported
when it is first called.  Worker processes share emitters, and each imports only the modules of those that it runs.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Generic, ParamSpec

from opgen.diagnostics import Diagnostics, UserError
from opgen.frozen_dataclass import dataclass
from opgen.output.files import OutputFile

P = ParamSpec("P")


@dataclass(frozen=True, slots=True)
class Emitter(Generic[P]):
    """One family of output files; `P` are its parameters."""

    name: str
    """Its label in the progress bar."""
    emit: Callable[P, Iterable[OutputFile]]
    cost: int = 1
    """Its approximate time relative to the other rows; workers start with the most expensive rows."""


@dataclass(frozen=True, slots=True)
class OnDemand:
    """A function, by its module and name; the first call imports the module."""

    module: str
    name: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function."""
        return getattr(importlib.import_module(self.module), self.name)(*args, **kwargs)


def bind(table: Iterable[Emitter[P]], *args: P.args, **kwargs: P.kwargs) -> tuple[Emitter[[]], ...]:
    """Return the rows of a table with their arguments bound."""
    return tuple(Emitter(row.name, partial(row.emit, *args, **kwargs), row.cost) for row in table)


def collect_files(table: Iterable[Emitter[[]]]) -> tuple[OutputFile, ...]:
    """Return the files of all rows; raise one `UserError` with all errors."""
    log, files = Diagnostics(), list[OutputFile]()
    for row in table:
        try:
            files.extend(row.emit())
        except UserError as problem:
            log.extend(problem.diagnostics)
    log.raise_errors()
    return tuple(files)
