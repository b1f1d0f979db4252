"""The spine of all commands: read options, load, render, write.

    run("gen", ["--source-path", "ops", "--install-dir", "out"])    →  the exit code

A command is a module in `opgen.commands`: its flags, its loader and its table of emitters (`opgen.run.command`).
Most runs of a build change nothing, so the spine first reads the manifest in the output folder.  If all inputs
and outputs are unchanged, the run ends before the command is imported.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from opgen.diagnostics import Diagnostics, UserError
from opgen.output.build_files import touch
from opgen.output.console import format_report, say
from opgen.output.manifest import find_current
from opgen.output.report import WriteReport

if TYPE_CHECKING:
    from opgen.output.manifest import Record
    from opgen.run.command import Command, Result

_STAMP_FLAG: Final = "--stamp"  # defined in `opgen.run.flags`, whose import is slow
INTERRUPTED: Final = 130
"""The exit code of a run that was interrupted from the keyboard."""
INTERNAL_ERROR: Final = 70
"""The exit code after a bug in opgen (`EX_SOFTWARE` of sysexits.h)."""


def run(name: str, argv: Sequence[str] | None = None) -> int:
    """Run a command; return 0, 1 for a user error, 70 for a bug in opgen, 130 if interrupted."""
    started, arguments, log = time.monotonic(), list(sys.argv[1:] if argv is None else argv), Diagnostics()
    if not _has_working_directory():
        return say("opgen: error: the working directory no longer exists [missing-file]\n", "", 1)
    if (current := _find_current(name, arguments)) is not None:
        report = WriteReport(current.total, (), folders=current.folders)
        return say(current.warnings, format_report(report, time.monotonic() - started, quiet=current.quiet), 0)
    command: Command = importlib.import_module(f"opgen.commands.{name}").COMMAND
    options = command.read_options(arguments, log)
    result: Result | None = None
    try:
        work = command.load(options, log)
        if work is not None and not log.has_errors:
            result = work.execute(command.start_record(arguments, options, started), log)
    except UserError as problem:
        log.extend(problem.diagnostics)
    except OSError as problem:
        what = f"can't use '{os.fsdecode(problem.filename)}'" if problem.filename else "a system call failed"
        log.error("unusable-file", f"{what}: {problem.strerror or problem}")
    except MemoryError:
        log.error("out-of-memory", "there isn't enough memory for this run")
    except KeyboardInterrupt:
        return say("opgen: interrupted: no file is partly written\n", "", INTERRUPTED)
    except Exception as error:
        render = importlib.import_module("opgen.run.internal_error").render_internal_error
        return say(render(error), "", INTERNAL_ERROR)
    if result is None or log.has_errors:
        return say(*command.render_errors(options, log), command.error_code)
    return say(result.warnings, result.text, result.code)


def _has_working_directory() -> bool:
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def _find_current(name: str, arguments: Sequence[str]) -> Record | None:
    """Return the last run with these arguments if nothing changed since; `--stamp` is then touched."""
    # Machine-readable diagnostics are never replayed from the manifest.
    if any(argument.startswith("--format") for argument in arguments):
        return None
    current = find_current((name, *arguments))
    return current if current is not None and touch(_stamp_in(arguments)) else None


def _stamp_in(arguments: Sequence[str]) -> str:
    """Return the file that `--stamp` names, without knowing the other flags; empty if there is none."""
    stamp, words = "", iter(arguments)
    for word in words:
        if word == "--":
            break
        if word == _STAMP_FLAG:
            stamp = next(words, "")
        elif word.startswith(f"{_STAMP_FLAG}="):
            stamp = word.partition("=")[2]
    return stamp
