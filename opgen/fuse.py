"""The generator of Inductor's patterns: what the installed torch looks for in graphs, as Python modules.

    python -m opgen.fuse --install-dir out
    python -m opgen.fuse --install-dir out --pattern mm_pattern

writes a module for each function that describes patterns, as torch ships them in
`torch/_inductor/fx_passes/serialized_patterns`.  This command imports torch and traces the functions, which takes a
while; torch's own folder stays as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Final, NoReturn

from opgen.dest.inductor_patterns import emit_patterns
from opgen.diagnostics import Diagnostics
from opgen.frontend.selection import check_words
from opgen.installed.inductor_tracing import MATCHER, pattern_names, scratch_cache, trace_patterns
from opgen.installed.location import import_torch
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.run.entry import run_as_program
from opgen.run.flags import install_parser
from opgen.run.inputs import packaged_templates
from opgen.run.shell import run_command

__all__ = ["entry_point", "main"]

COMMAND: Final = "fuse"
PATTERN_FLAG: Final = "--pattern"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    parser = install_parser(COMMAND, "Generate the modules of patterns that Inductor looks for in graphs.")
    parser.add_argument(PATTERN_FLAG, nargs="*", metavar="FUNCTION", help="write the patterns of these functions only")
    return run_command(parser, _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    with scratch_cache():
        files = _generate(given.pattern, log)
    return None if files is None else write_files(files, {"install": given.install_dir}, dry_run=given.dry_run)


def _generate(wanted: Sequence[str] | None, log: Diagnostics) -> tuple[OutputFile, ...] | None:
    torch = import_torch("torch", COMMAND, log)
    matcher = None if torch is None else import_torch(MATCHER, COMMAND, log)
    if matcher is None:
        return None
    patterns, functions = trace_patterns(torch, matcher, lambda function: wanted is None or function in wanted)
    check_words(PATTERN_FLAG, wanted or (), "pattern", functions, log)
    if log.has_errors:
        return None
    return tuple(emit_patterns(patterns, pattern_names(matcher), TemplateSet(*packaged_templates(COMMAND))))


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
