"""The parts of a command, and the values that it exchanges with the spine.

    COMMAND = Command(
        name="gen_static_runtime",
        group=Group.RUNTIMES,
        summary="write the operators of the static runtime, and their tests",
        produces="Writes generated_ops.cpp and test_generated_ops.cc into the install directory.",
        add_flags=add_flags,
        load=load,      # options → Work (emitters bound to what was read) or Answer; None if anything is wrong
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
class Answer:
    """How a command ends: what it prints, and its exit code."""

    text: str
    """For stdout."""
    code: int = 0
    warnings: str = ""
    """For stderr: warnings."""
    diagnostics: tuple[Diagnostic, ...] | None = None
    """The same for programs, if it is a list of what is wrong; it joins the diagnostics of the run."""

    def carry_out(self, record: RunRecord, log: Diagnostics) -> Answer:
        """Return the answer with the warnings of the log."""
        flags = record.flags
        if self.diagnostics is None or not flags.is_for_programs:
            return replace(self, warnings=flags.remarks(log))
        document = flags.render([*log.sorted(with_remarks=flags.verbose), *self.diagnostics])
        return replace(self, text=document) if flags.prints_document else replace(self, warnings=document)


class Outcome(Protocol):
    """What a loader returns: a `Work` to do or an `Answer` to print."""

    def carry_out(self, record: RunRecord, log: Diagnostics) -> Answer | None:
        """Do what is left to do; return None, with the reasons logged, if anything is wrong."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command of opgen."""

    name: str
    """Its module in `opgen.commands`."""
    group: Group
    summary: str
    """One line for `opgen --help`, beginning with a verb."""
    produces: str
    """What a run writes or prints, in whole sentences for the command's own `--help`."""
    add_flags: Callable[[argparse.ArgumentParser], None]
    load: Callable[[argparse.Namespace, Diagnostics], Outcome | None]
    """Reads what the options name; returns None, with the reasons logged, if anything is wrong."""
    mistake_code: int = 1
    """The exit code for a mistake of the user."""

    def build_parser(self) -> argparse.ArgumentParser:
        """Return the parser of the command line."""
        description = f"{self.summary[0].upper()}{self.summary[1:]}.  {self.produces}"
        parser = Parser(prog=f"opgen {self.name}", description=description)
        self.add_flags(parser)
        return parser

    def read_options(self, arguments: Sequence[str], log: Diagnostics) -> argparse.Namespace:
        """Parse the command line and report flags that don't go together; wrong flags end the process with code 2."""
        options = self.build_parser().parse_args(arguments)
        RunFlags.of(options).check(log)
        return options

    def render_mistakes(self, options: argparse.Namespace, log: Diagnostics) -> tuple[str, str]:
        """Return what a run that fails prints to stderr and to stdout."""
        flags = RunFlags.of(options)
        return ("", flags.mistakes(log)) if flags.prints_document else (flags.mistakes(log), "")

    def start_record(self, arguments: Sequence[str], options: argparse.Namespace, started: float) -> RunRecord:
        """Return the account of a run that began at the monotonic time `started`."""
        return RunRecord(self.name, arguments, options, started)
