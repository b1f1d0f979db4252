"""A command line → what its command does, or nothing at once if there is nothing to do.

    run_unless_current("gen_autograd", "opgen.autograd", arguments)

Most runs of a build change nothing.  So this first asks the manifest in the folder that is written to whether
all that was read and written is as it was; only if not, the module that does the work is imported,
which takes longer than the question.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

from opgen.output.build_files import touch
from opgen.output.console import format_report
from opgen.output.manifest import Record, find_current
from opgen.output.report import WriteReport

_OUT: Final = 2
"""The place of the folder to write to among the words of a command line that are no flags."""
_WITH_VALUE: Final = (
    *("-j", "--jobs", "--stamp", "--depfile"),
    *("--op-selection-yaml-path", "--op_selection_yaml_path"),
)
"""Flags that the next word belongs to."""


def run_unless_current(command: str, module: str, argv: Sequence[str] | None) -> int:
    """Runs the `main` of a module, unless all is as its command would leave it; returns the exit code."""
    started, arguments = time.monotonic(), list(sys.argv[1:] if argv is None else argv)
    folder = _out_folder(arguments)
    current = None if folder is None else find_current((command, *arguments), folder)
    if current is not None and touch(current.stamp):
        say_again(current, time.monotonic() - started)
        return 0
    code: int = importlib.import_module(module).main(arguments)
    return code


def say_again(record: Record, seconds: float) -> None:
    """Says what a run that wrote nothing would have said."""
    sys.stderr.write(record.said)
    sys.stdout.write(format_report(WriteReport(record.total, ()), seconds, quiet=record.quiet))


def _out_folder(arguments: Sequence[str]) -> str | None:
    """The folder to write to, as far as can be told without knowing all flags; a wrong guess does no harm."""
    words = list(_plain_words(arguments))
    return words[_OUT] if len(words) > _OUT else None


def _plain_words(arguments: Sequence[str]) -> Iterator[str]:
    is_value = False
    for word in arguments:
        if not is_value and not word.startswith("-"):
            yield word
        is_value = not is_value and word in _WITH_VALUE
