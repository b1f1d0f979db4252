"""What commands have in common: flags that all of them have, and how a run ends.

    run_command(parser, run, argv)     →  0, 1 for a mistake of the user's, 70 for a bug of opgen's

`run` takes the flags and a log, and returns what was written; None, with the reasons logged, if the
inputs are wrong.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol, TypeVar

from opgen.diagnostics import Diagnostics, UserError
from opgen.output.console import Progress, format_report
from opgen.output.files import OutputFile
from opgen.output.report import WriteReport
from opgen.run.flags import add_build, add_dry_run, add_talk
from opgen.run.internal_error import EXIT_CODE, render_internal_error

INTERRUPTED: Final = 130
"""What a run ends with that was interrupted from the keyboard."""

Run = Callable[[argparse.Namespace, Diagnostics], WriteReport | None]


class Named(Protocol):
    """What the progress bar can call by a name: an emitter."""

    @property
    def name(self) -> str:
        """What it makes, in a word."""


E = TypeVar("E", bound=Named)


def collect_files(
    emitters: Sequence[E], emit: Callable[[E], Iterable[OutputFile]], *, quiet: bool
) -> tuple[OutputFile, ...]:
    """The files of all emitters, as values; mistakes in templates are one `UserError`."""
    log, files = Diagnostics(), list[OutputFile]()
    with Progress(len(emitters) + 1, sys.stderr, enabled=not quiet) as progress:
        for emitter in emitters:
            progress.advance(emitter.name)
            try:
                files.extend(emit(emitter))
            except UserError as problem:
                log.extend(problem.diagnostics)
    log.raise_errors()
    return tuple(files)


def autograd_parser(command: str, description: str) -> argparse.ArgumentParser:
    """The command line of a generator that reads operators and a folder of autograd's inputs."""
    parser = argparse.ArgumentParser(prog=f"opgen {command}", description=description, allow_abbrev=False)
    parser.add_argument("native_functions", type=Path, metavar="NATIVE_FUNCTIONS", help="the operators (YAML)")
    parser.add_argument("tags", type=Path, metavar="TAGS", help="the tags that operators may have (YAML)")
    parser.add_argument("out", type=Path, metavar="OUT", help="folder to write to")
    parser.add_argument("autograd", type=Path, metavar="AUTOGRAD_DIR", help="folder of the inputs of autograd")
    add_dry_run(parser)
    add_build(parser.add_argument_group("build systems"))
    add_talk(parser)
    return parser


def run_command(parser: argparse.ArgumentParser, run: Run, argv: Sequence[str] | None) -> int:
    """Runs a command; returns the exit code."""
    started, log = time.monotonic(), Diagnostics()
    given = parser.parse_args(argv)
    report = None
    try:
        report = run(given, log)
    except UserError as problem:
        log.extend(problem.diagnostics)
    except KeyboardInterrupt:
        sys.stderr.write("opgen: interrupted; the old files are whole\n")
        return INTERRUPTED
    except Exception as error:
        sys.stderr.write(render_internal_error(error))
        return EXIT_CODE
    if report is None:
        sys.stderr.write(log.render(with_remarks=False))
        return 1
    if not given.quiet:
        sys.stderr.write(log.render(with_remarks=given.verbose))
    elapsed = time.monotonic() - started
    sys.stdout.write(format_report(report, elapsed, quiet=given.quiet, verbose=given.verbose))
    return 0
