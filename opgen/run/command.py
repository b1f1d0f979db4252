"""The parts of a command, and the values that it exchanges with the spine.

    COMMAND = Command(
        name="gen_static_runtime",
        group=Group.RUNTIMES,
        summary="write the operators of the static runtime, and their tests",
        produces="Writes generated_ops.cpp and test_generated_ops.cc into the install directory.",
        add_flags=add_flags,
        load=load,      # options → Work (emitters bound to their inputs) or Result; None on errors
    )

`opgen.run.spine` runs a command.  A module in `opgen.commands` whose name doesn't begin with `_` is a command of
the module's name; `opgen --help` lists it under its group.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import Enum
from typing import Protocol

from opgen.diagnostics import Diagnostic, Diagnostics
from opgen.frozen_dataclass import dataclass
from opgen.run.arguments import Parser
from opgen.run.flags import RunFlags
from opgen.run.record import RunRecord


class Group(Enum):
    """The headings of `opgen --help`, in order."""

    OPERATORS = "for authors of operators"
    BACKENDS = "for authors of backends"
    REVIEW = "for reviews and CI"
    TORCH = "for builds of torch"
    RUNTIMES = "for runtimes, compilers and small builds"
    SHELL = "for your shell"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a command: its output and its exit code."""

    text: str
    """Printed to stdout."""
    code: int = 0
    warnings: str = ""
    """Printed to stderr."""
    diagnostics: tuple[Diagnostic, ...] | None = None
    """The result as diagnostics, which machine-readable formats print with the diagnostics of the run."""

    def execute(self, record: RunRecord, log: Diagnostics) -> Result:
        """Return the result with the warnings of the log."""
        flags = record.flags
        if self.diagnostics is None or not flags.is_machine_readable:
            return replace(self, warnings=flags.render_success(log))
        document = flags.render([*log.sorted(with_remarks=flags.verbose), *self.diagnostics])
        return replace(self, text=document) if flags.prints_document else replace(self, warnings=document)


class Action(Protocol):
    """The return value of a loader: a `Work` to do or a `Result` to print."""

    def execute(self, record: RunRecord, log: Diagnostics) -> Result | None:
        """Execute the action; return None, with errors logged, if it fails."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of opgen."""

    name: str
    """Its module in `opgen.commands`."""
    group: Group
    summary: str
    """One line for `opgen --help`, beginning with a verb."""
    produces: str
    """Whole sentences for the command's own `--help` that say what a run writes or prints."""
    add_flags: Callable[[argparse.ArgumentParser], None]
    load: Callable[[argparse.Namespace, Diagnostics], Action | None]
    """Reads the inputs that the options name; returns None, with errors logged, if it fails."""
    error_code: int = 1
    """The exit code for a user error."""

    def build_parser(self) -> argparse.ArgumentParser:
        """Return the parser of the command line."""
        description = f"{self.summary[0].upper()}{self.summary[1:]}.  {self.produces}"
        parser = Parser(prog=f"opgen {self.name}", description=description)
        self.add_flags(parser)
        return parser

    def read_options(self, arguments: Sequence[str], log: Diagnostics) -> argparse.Namespace:
        """Parse the command line and report conflicting flags; illegal flags end the process with code 2."""
        options = self.build_parser().parse_args(arguments)
        RunFlags.of(options).check(log)
        return options

    def render_errors(self, options: argparse.Namespace, log: Diagnostics) -> tuple[str, str]:
        """Return the text that a failed run prints to stderr and to stdout."""
        flags = RunFlags.of(options)
        return ("", flags.render_failure(log)) if flags.prints_document else (flags.render_failure(log), "")

    def start_record(self, arguments: Sequence[str], options: argparse.Namespace, started: float) -> RunRecord:
        """Return the manifest bookkeeping for a run that began at the monotonic time `started`."""
        return RunRecord(self.name, arguments, options, started)
