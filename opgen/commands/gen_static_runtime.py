"""`opgen gen_static_runtime`: definitions → the operators of the static runtime, and their tests.

    python -m opgen.gen_static_runtime --from-torch --install-dir out

writes `generated_ops.cpp` and `test_generated_ops.cc`.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.output.emitter import Emitter, OnDemand, bind, collect_files
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.program.program import Program
from opgen.run.command import Command, Group
from opgen.run.flags import add_common_flags, add_definitions, add_install_dir
from opgen.run.inputs import find_inputs, packaged_templates
from opgen.run.work import Work, install_root

EMITTERS: Final[tuple[Emitter[Program, TemplateSet], ...]] = (
    Emitter("operators", OnDemand("opgen.dest.static_runtime", "emit_static_runtime")),
    Emitter("tests", OnDemand("opgen.dest.static_runtime_tests", "emit_static_runtime_tests")),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags of the command."""
    add_install_dir(parser)
    add_definitions(parser)
    add_common_flags(parser)


def load(options: argparse.Namespace, log: Diagnostics) -> Work | None:
    """Read the operators; return None, with errors logged, if it fails."""
    inputs = find_inputs(options.source_path, log, from_torch=options.from_torch)
    program = None if inputs is None else load_program(inputs.functions, inputs.tags, log, torch=options.torch_version)
    if inputs is None or program is None:
        return None
    templates = _templates()
    emitters = bind(EMITTERS, program, templates)
    # There are few operators, so a second process isn't worthwhile.
    return Work(emitters, install_root(options.install_dir), templates, read=inputs.files)


def generate(program: Program, *templates: Path) -> tuple[OutputFile, ...]:
    """Return both files as values; `templates` are folders of templates, by default opgen's own."""
    return collect_files(bind(EMITTERS, program, TemplateSet(*templates) if templates else _templates()))


def _templates() -> TemplateSet:
    return TemplateSet(*packaged_templates("static_runtime"))


COMMAND: Final = Command(
    name="gen_static_runtime",
    group=Group.RUNTIMES,
    summary="write the operators of the static runtime, and their tests",
    produces="Writes generated_ops.cpp and test_generated_ops.cc into the install directory.",
    add_flags=add_flags,
    load=load,
)
