"""`opgen fuse`: the patterns that the installed torch looks for in graphs → Python modules.

    python -m opgen.fuse --install-dir out
    python -m opgen.fuse --install-dir out --pattern mm_pattern

writes a module for each function that describes patterns, as torch ships them in
`torch/_inductor/fx_passes/serialized_patterns`.  This command imports torch and traces the functions, which takes
time; it doesn't change torch's own folder.
"""

from __future__ import annotations

import argparse
from typing import Final

from opgen.dest.inductor_patterns import emit_patterns
from opgen.diagnostics import Diagnostics
from opgen.frontend.selection import check_words
from opgen.installed.inductor_tracing import MATCHER, pattern_names, scratch_cache, trace_patterns
from opgen.installed.location import import_torch, torch_files
from opgen.output.emitter import Emitter, bind
from opgen.output.template import TemplateSet
from opgen.run.command import Command, Group
from opgen.run.flags import add_common_flags, add_install_dir
from opgen.run.inputs import packaged_templates
from opgen.run.work import Work, install_root

NAME: Final = "fuse"
PATTERN_FLAG: Final = "--pattern"

EMITTERS: Final = (Emitter("patterns", emit_patterns),)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    add_install_dir(parser)
    parser.add_argument(PATTERN_FLAG, nargs="*", metavar="FUNCTION", help="write the patterns of these functions only")
    add_common_flags(parser, of_torch=False)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Trace the patterns; return None, with errors logged, if it fails."""
    with scratch_cache():
        torch = import_torch("torch", NAME, log)
        matcher = None if torch is None else import_torch(MATCHER, NAME, log)
        if matcher is None:
            return None
        wanted = options.pattern
        patterns, functions = trace_patterns(torch, matcher, lambda function: wanted is None or function in wanted)
        names = pattern_names(matcher)
    check_words(PATTERN_FLAG, wanted or (), "pattern", functions, log)
    if log.has_errors:
        return None
    templates = TemplateSet(*packaged_templates(NAME))
    emitters = bind(EMITTERS, patterns, names, templates)
    return Work(emitters, install_root(options.install_dir), templates, read=torch_files())


COMMAND: Final = Command(
    name=NAME,
    group=Group.RUNTIMES,
    summary="write the patterns that Inductor looks for in graphs",
    produces="Imports torch and writes one Python module for each function that describes patterns.",
    add_flags=add_flags,
    load=load,
)
