"""The generator of the static runtime's operators: definitions in, C++ that runs them out, and C++ that tests it.

    python -m opgen.gen_static_runtime --from-torch --install-dir out

writes `generated_ops.cpp` and `test_generated_ops.cc`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NoReturn

from opgen.dest.static_runtime import emit_static_runtime
from opgen.dest.static_runtime_tests import emit_static_runtime_tests
from opgen.diagnostics import Diagnostics
from opgen.frontend.native_functions import load_program
from opgen.output.files import OutputFile
from opgen.output.template import TemplateSet
from opgen.output.writer import WriteReport, write_files
from opgen.program.program import Program
from opgen.run.entry import run_as_program
from opgen.run.flags import add_definitions, install_parser
from opgen.run.inputs import find_inputs, packaged_templates
from opgen.run.shell import run_command

__all__ = ["entry_point", "generate", "main"]

TEMPLATES: Final = "static_runtime"


def generate(program: Program, *templates: Path) -> tuple[OutputFile, ...]:
    """Both files, as values; `templates` are folders to look in, by default opgen's own."""
    found = TemplateSet(*(templates or packaged_templates(TEMPLATES)))
    return (*emit_static_runtime(program, found), *emit_static_runtime_tests(program, found))


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the generator; returns the exit code: 0, 1 for a mistake of the user's, 70 for a bug."""
    parser = install_parser("gen_static_runtime", "Generate the operators of the static runtime, and their tests.")
    add_definitions(parser)
    return run_command(parser, _run, argv)


def _run(given: argparse.Namespace, log: Diagnostics) -> WriteReport | None:
    inputs = find_inputs(given.source_path, log, from_torch=given.from_torch)
    program = None if inputs is None else load_program(inputs.functions, inputs.tags, log, torch=given.torch_version)
    if program is None:
        return None
    return write_files(generate(program), {"install": given.install_dir}, dry_run=given.dry_run)


def entry_point() -> NoReturn:
    """Runs the generator as a command."""
    run_as_program(main)


if __name__ == "__main__":
    entry_point()
