"""Pieces of work → the files of one run of a command that reads autograd's inputs, and its manifest.

    run_pieces(Command("gen_autograd", parser, plan), argv)

The command plans: it reads what every piece needs, and says what there is to make.  The pieces are shared
among processes.  What only some emitters need is derived by the piece that has these emitters, so that the
other pieces don't wait for it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from opgen.diagnostics import Diagnostics, UserError
from opgen.output.build_files import render_depfile
from opgen.output.files import OutputFile
from opgen.output.report import WriteReport
from opgen.output.template import TemplateSet
from opgen.output.writer import Target
from opgen.run.finish import finish
from opgen.run.parallel import available_jobs
from opgen.run.record import RunRecord, canonical
from opgen.run.shares import Later, Piece, files_read, put_all
from opgen.run.shell import run_command

P = TypeVar("P")

WORTH_FORKING: Final = 300
"""Operators from which on it pays to use several processes."""
_MANNER: Final = ("quiet", "verbose", "jobs", "dry_run")
"""Flags that say how a run is done and talked about."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What there is to do."""

    pieces: tuple[Piece, ...]
    templates: TemplateSet
    read: tuple[Path | None, ...]
    """The files that are read, apart from templates."""
    operators: int
    """How many operators there are: few are not worth another process."""
    later: Later | None = None
    """What needs something that pieces needn't wait for."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that reads operators and a folder of autograd's inputs."""

    name: str
    parser: argparse.ArgumentParser
    plan: Callable[[argparse.Namespace, Diagnostics], Plan | None]
    """Reads the inputs; None, with the reasons logged, if they are wrong."""


def derived(derive: Callable[[Diagnostics], P | None]) -> P:
    """What is derived; all that is wrong with it is one `UserError`."""
    log = Diagnostics()
    program = derive(log)
    if program is None or log.has_errors:
        raise UserError(*log.found)
    return program


def emit_derived(
    derive: Callable[[Diagnostics], P | None],
    emits: Iterable[Callable[[P, TemplateSet], Iterable[OutputFile]]],
    templates: TemplateSet,
) -> Iterator[OutputFile]:
    """The files of several emitters, all of which need what is derived here; all mistakes are one `UserError`."""
    log, program = Diagnostics(), derived(derive)
    for emit in emits:
        try:
            yield from emit(program, templates)
        except UserError as problem:
            log.extend(problem.diagnostics)
    log.raise_errors()


def run_pieces(command: Command, argv: Sequence[str] | None) -> int:
    """Runs a command; returns its exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return run_command(command.parser, partial(_run, command, arguments), arguments)


def _run(command: Command, arguments: Sequence[str], given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    """Reads, generates and writes; None, with the reasons logged, if the inputs are wrong."""
    options = {name: value for name, value in vars(given).items() if name not in _MANNER}
    asked = canonical({"command": command.name, **options})
    record = RunRecord((command.name, *arguments), asked, quiet=given.quiet, stamp=given.stamp)
    plan = command.plan(given, log) if _are_flags_sound(given, log) else None
    if plan is None:
        return None
    with Target({"install": given.out}, dry_run=given.dry_run) as target, ExitStack() as crews:
        record.load(given.out)
        target.known = record.known
        jobs = given.jobs or (available_jobs() if plan.operators >= WORTH_FORKING else 1)
        pieces, templates, later = plan.pieces, plan.templates, plan.later
        shares = put_all(target, pieces, templates, jobs=jobs, quiet=given.quiet, crews=crews, later=later)
        log.extend(problem for share in shares for problem in share.problems)
        if log.has_errors:
            return None
        # Whether there is such a folder decides where templates come from.
        paths = [path for path in (*plan.read, given.autograd / "templates") if path is not None]
        read = [*map(os.fspath, paths), *files_read(shares)]
        others = [] if target.is_dry_run else _others(read, given)
        placed = [file for share in shares for file in share.placed]
        said = "" if given.quiet else log.render(with_remarks=given.verbose)
        return finish(target, record, placed, read, others=others, said=said, stamp=given.stamp)


def _are_flags_sound(given: argparse.Namespace, log: Diagnostics) -> bool:
    if given.depfile is None or given.stamp is not None:
        return True
    label = "what was read is said of the file that a build waits for"
    log.error("flag-without-effect", "--depfile needs --stamp", label=label)
    return False


def _others(read: Sequence[str], given: argparse.Namespace) -> list[tuple[Path, str]]:
    """The files that tell a build of the run."""
    if given.depfile is None:
        return []
    return [(given.depfile, render_depfile(os.fspath(given.stamp), filter(os.path.isfile, read)))]
